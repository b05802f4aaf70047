# SPDX-License-Identifier: Apache-2.0
# `make test-avx512`: the AVX-512 kernels and their harnesses on an x86-64 processor without AVX-512, whose instructions
# SIMDe and emulated/immintrin.h stand in for, those of AVX-512-BF16 and AVX-512-VBMI too. `make test` runs the kernels
# as shipped where the processor has AVX-512. What the compiler makes of the instructions themselves is not seen here.
# Where SIMDe is missing it says so and succeeds.

AVX512_OUT := build/avx512
AVX512_PYTHON := $(or $(wildcard $(PY)),python3)
# The kernels as for AVX2, so that SIMDe has 256 bits to work with; SIMDe's vectors of 512 bits have no ABI of their own.
AVX512_FLAGS := -std=c11 -D_GNU_SOURCE -O1 -Wno-psabi -ffp-contract=off -fno-math-errno -fno-trapping-math -pthread \
  -DACLPY_EMULATED -Inative/engine -Inative/kernels -Inative/include -I$(AVX512_OUT)
AVX512_KERNELS := $(wildcard native/kernels/*.c)
AVX512_HARNESSES := $(wildcard tests/native/kernels_*.c)
AVX512_HEADERS := $(wildcard native/*/*.h tests/native/*.h tests/native/emulated/*.h)
AVX512_OBJECTS := $(patsubst native/%.c,$(AVX512_OUT)/%.o,$(AVX512_KERNELS) $(wildcard native/dispatch/*.c))
AVX512_PROGRAMS := $(AVX512_HARNESSES:tests/native/%.c=$(AVX512_OUT)/%)

.PHONY: test-avx512 run-avx512
test-avx512: ## the kernel harnesses with AVX-512's instructions emulated
	@if echo '#include <simde/x86/avx512.h>' | $(CC) $(CPPFLAGS) -mavx2 -x c -fsyntax-only - 2>/dev/null; then \
	  $(MAKE) --no-print-directory -j2 run-avx512; \
	else \
	  echo "skipped: no SIMDe for AVX2 here (Debian, Ubuntu: sudo apt-get install libsimde-dev)"; \
	fi

run-avx512: $(AVX512_PROGRAMS)
	@for program in $(AVX512_PROGRAMS); do \
	  KERNEL_SHAPES=few $$program >$$program.log 2>&1 || { cat $$program.log; echo "failed: $$program (AVX-512)"; exit 1; }; \
	  echo "  ok  $$(basename $$program) (AVX-512): $$(tail -n 1 $$program.log)"; \
	done
	@echo "$(words $(AVX512_PROGRAMS)) harnesses pass (AVX-512, emulated)"

.SECONDARY: $(AVX512_OBJECTS)
$(AVX512_OUT)/kernel_list.inc: tools/kernel_list.py $(AVX512_KERNELS)
	@mkdir -p $(@D)
	@$(AVX512_PYTHON) tools/kernel_list.py --isas avx512 --output $@ $(AVX512_KERNELS)

$(AVX512_OUT)/%.o: native/%.c $(AVX512_HEADERS) $(AVX512_OUT)/kernel_list.inc
	@mkdir -p $(@D)
	@$(CC) $(CPPFLAGS) $(AVX512_FLAGS) -mavx2 -mfma -mf16c -Itests/native/emulated -DACLPY_KERNEL_ISA=avx512 -w -c $< -o $@

$(AVX512_OUT)/%: tests/native/%.c $(AVX512_OBJECTS)
	@$(CC) $(AVX512_FLAGS) $< $(AVX512_OBJECTS) -lm -ldl -o $@
