# SPDX-License-Identifier: Apache-2.0
# `make test-arm64`: the kernels and their harnesses cross-compiled for arm64 (NEON) and run under user-mode emulation.
# Where the compiler or the emulator is missing it says so and succeeds.

ARM64_CC ?= aarch64-linux-gnu-gcc
ARM64_RUN ?= qemu-aarch64 -L /usr/aarch64-linux-gnu
ARM64_OUT := build/arm64
ARM64_PYTHON := $(or $(wildcard $(PY)),python3)
# Optimised as shipped: emulated instructions are slow, and the optimiser's code is what runs on the real machine.
ARM64_FLAGS := -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -fno-trapping-math \
  -pthread -Inative/engine -Inative/kernels -Inative/include -I$(ARM64_OUT)
ARM64_KERNELS := $(wildcard native/kernels/*.c)
ARM64_HARNESSES := $(wildcard tests/native/kernels_*.c)
ARM64_HEADERS := $(wildcard native/*/*.h tests/native/*.h)
ARM64_OBJECTS := $(patsubst native/%.c,$(ARM64_OUT)/%.o,$(ARM64_KERNELS) $(wildcard native/dispatch/*.c))
ARM64_PROGRAMS := $(ARM64_HARNESSES:tests/native/%.c=$(ARM64_OUT)/%)

.PHONY: test-arm64 run-arm64
test-arm64: ## the kernel harnesses for arm64, under emulation
	@for tool in $(firstword $(ARM64_CC)) $(firstword $(ARM64_RUN)); do \
	  command -v $$tool >/dev/null 2>&1 || { \
	    echo "skipped: $$tool was not found (Debian, Ubuntu: sudo apt-get install gcc-aarch64-linux-gnu qemu-user)"; \
	    exit 0; }; \
	done; \
	$(MAKE) --no-print-directory run-arm64

run-arm64: $(ARM64_PROGRAMS)
	@for program in $(ARM64_PROGRAMS); do \
	  KERNEL_SHAPES=few $(ARM64_RUN) $$program >$$program.log 2>&1 || { cat $$program.log; echo "failed: $$program (arm64)"; exit 1; }; \
	  echo "  ok  $$(basename $$program) (arm64): $$(tail -n 1 $$program.log)"; \
	done
	@echo "$(words $(ARM64_PROGRAMS)) harnesses pass (arm64, emulated)"

.SECONDARY: $(ARM64_OBJECTS)
$(ARM64_OUT)/kernel_list.inc: tools/kernel_list.py $(ARM64_KERNELS)
	@mkdir -p $(@D)
	@$(ARM64_PYTHON) tools/kernel_list.py --machine aarch64 --output $@ $(ARM64_KERNELS)

$(ARM64_OUT)/%.o: native/%.c $(ARM64_HEADERS) $(ARM64_OUT)/kernel_list.inc
	@mkdir -p $(@D)
	@$(ARM64_CC) $(ARM64_FLAGS) -DACLPY_KERNEL_ISA=baseline -c $< -o $@

$(ARM64_OUT)/%: tests/native/%.c $(ARM64_OBJECTS)
	@$(ARM64_CC) $(ARM64_FLAGS) $< $(ARM64_OBJECTS) -lm -static -o $@
