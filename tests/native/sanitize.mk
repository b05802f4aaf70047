# SPDX-License-Identifier: Apache-2.0
# `make sanitize`: the engine's C harnesses without sanitizers (memory figures and forks among busy threads can only be
# checked there), then every harness of this folder with the address and undefined-behaviour sanitizers, then with the
# thread sanitizer.
# Harnesses are found by name: a new *.c file here is run without further ado.

SANITIZE_OUT := build/sanitize
SANITIZE_PYTHON := $(or $(wildcard $(PY)),python3)
SANITIZE_FLAGS := -std=c11 -D_GNU_SOURCE -O1 -g1 -fno-omit-frame-pointer -Wall -Wextra -Werror \
  -ffp-contract=off -fno-math-errno -pthread -Inative/engine -Inative/kernels -Inative/include -Inative/capi -Inative/include/toolkit
SANITIZE_plain := -O2
SANITIZE_address := -fsanitize=address,undefined -fno-sanitize-recover=all
SANITIZE_thread := -fsanitize=thread
# Forked children are part of the tests; the first report ends a harness.
SANITIZE_ENVIRONMENT := TSAN_OPTIONS=die_after_fork=0:halt_on_error=1 ASAN_OPTIONS=detect_leaks=1
# Older thread sanitizers do not start where addresses are spread too far; without randomisation they do.
SANITIZE_RUN := $(shell setarch "$$(uname -m)" -R true >/dev/null 2>&1 && echo setarch "$$(uname -m)" -R)

# Without sanitizers only the engine is built: it knows no kernel, and the Python suite runs the kernels as shipped.
ifeq ($(SANITIZE_NOW),plain)
SANITIZE_LIBRARY := $(wildcard native/engine/*.c)
SANITIZE_KERNELS :=
SANITIZE_HARNESSES := $(wildcard tests/native/engine_*.c)
else
SANITIZE_LIBRARY := $(wildcard native/engine/*.c native/dispatch/*.c native/capi/*.c)
SANITIZE_KERNELS := $(wildcard native/kernels/*.c)
SANITIZE_HARNESSES := $(wildcard tests/native/*.c)
endif
SANITIZE_HEADERS := $(wildcard native/*/*.h native/include/toolkit/*/*.h native/include/toolkit/*/*/*.h tests/native/*.h)
# Threads treat every ISA alike, so one is enough for the thread sanitizer; kernels take most of the time to compile.
ifeq ($(SANITIZE_NOW),address)
SANITIZE_ISAS := $(shell $(SANITIZE_PYTHON) tools/kernel_list.py --machine "$$(uname -m)" --print-isas)
else
SANITIZE_ISAS := baseline
endif

.PHONY: sanitize sanitize-plain sanitize-address sanitize-thread
sanitize: ## the C harnesses of engine and kernels under ASan+UBSan and under TSan
	@$(MAKE) --no-print-directory -j2 SANITIZE_NOW=plain sanitize-plain
	@$(MAKE) --no-print-directory -j2 SANITIZE_NOW=address sanitize-address
	@$(MAKE) --no-print-directory -j2 SANITIZE_NOW=thread sanitize-thread

.PHONY: soak soak-programs
soak: soak-programs ## the stress harness at full size (64 streams, 10,000 tasks each) under TSan; all random programs
	@STRESS=full $(MAKE) --no-print-directory SANITIZE_NOW=thread $(SANITIZE_OUT)/thread/engine_stress.passed

.PHONY: fuzz
fuzz: ## 1,000,000 random calls of the C names under ASan+UBSan (FUZZ_SEED: which)
	@FUZZ_CALLS=1000000 $(MAKE) --no-print-directory SANITIZE_NOW=address $(SANITIZE_OUT)/address/fuzz_capi.passed

soak-programs: $(VENV)/.built ## 1,000 random stream programs under 20 schedules each
	@ACLNN_PY_SOAK=1 $(PY) -m pytest -q tests/property/test_stream_programs.py

ifdef SANITIZE_NOW
SANITIZE_HERE := $(SANITIZE_OUT)/$(SANITIZE_NOW)
sanitize_comma := ,
sanitize_empty :=
sanitize_space := $(sanitize_empty) $(sanitize_empty)
SANITIZE_CC := $(CC) $(SANITIZE_FLAGS) $(SANITIZE_$(SANITIZE_NOW))
SANITIZE_OBJECTS := $(SANITIZE_LIBRARY:native/%.c=$(SANITIZE_HERE)/%.o) \
  $(foreach isa,$(SANITIZE_ISAS),$(SANITIZE_KERNELS:native/kernels/%.c=$(SANITIZE_HERE)/kernels-$(isa)/%.o))
SANITIZE_PROGRAMS := $(SANITIZE_HARNESSES:tests/native/%.c=$(SANITIZE_HERE)/%)

.SECONDARY: $(SANITIZE_OBJECTS) $(SANITIZE_PROGRAMS)
sanitize-$(SANITIZE_NOW): $(SANITIZE_PROGRAMS:%=%.passed)
	@echo "$(words $(SANITIZE_PROGRAMS)) harnesses pass ($(SANITIZE_NOW): $(SANITIZE_$(SANITIZE_NOW)))"

$(SANITIZE_HERE)/kernel_list.inc: tools/kernel_list.py $(SANITIZE_KERNELS)
	@mkdir -p $(@D)
	@$(SANITIZE_PYTHON) tools/kernel_list.py --isas $(subst $(sanitize_space),$(sanitize_comma),$(SANITIZE_ISAS)) \
	  --output $@ $(SANITIZE_KERNELS)

$(SANITIZE_HERE)/engine/%.o: native/engine/%.c $(SANITIZE_HEADERS)
	@mkdir -p $(@D)
	@$(SANITIZE_CC) -c $< -o $@

$(SANITIZE_HERE)/capi/%.o: native/capi/%.c $(SANITIZE_HEADERS)
	@mkdir -p $(@D)
	@$(SANITIZE_CC) -c $< -o $@

$(SANITIZE_HERE)/dispatch/%.o: native/dispatch/%.c $(SANITIZE_HEADERS) $(SANITIZE_HERE)/kernel_list.inc
	@mkdir -p $(@D)
	@$(SANITIZE_CC) -I$(SANITIZE_HERE) -c $< -o $@

define sanitize_kernels
$(SANITIZE_HERE)/kernels-$(1)/%.o: native/kernels/%.c $(SANITIZE_HEADERS)
	@mkdir -p $$(@D)
	@$(SANITIZE_CC) -fno-trapping-math $(shell $(SANITIZE_PYTHON) tools/kernel_list.py --flags $(1)) \
	  -DACLPY_KERNEL_ISA=$(1) -c $$< -o $$@
endef
$(foreach isa,$(SANITIZE_ISAS),$(eval $(call sanitize_kernels,$(isa))))

$(SANITIZE_HERE)/%: tests/native/%.c $(SANITIZE_OBJECTS) $(SANITIZE_HEADERS)
	@$(SANITIZE_CC) $< $(SANITIZE_OBJECTS) -lm -ldl -o $@

# Run afresh each time: timing is what the thread sanitizer feeds on.
.PHONY: $(SANITIZE_PROGRAMS:%=%.passed)
$(SANITIZE_PROGRAMS:%=%.passed): %.passed: %
	@$(SANITIZE_ENVIRONMENT) $(SANITIZE_RUN) $< >$<.log 2>&1 || { cat $<.log; echo "failed: $<"; exit 1; }
	@echo "  ok  $(notdir $<) ($(SANITIZE_NOW))"
endif
