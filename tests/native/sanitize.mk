# SPDX-License-Identifier: Apache-2.0
# `make sanitize`: the engine's C harnesses without sanitizers (memory figures and forks among busy threads can only be
# checked there), then every harness of this folder with the address and undefined-behaviour sanitizers, then with the
# thread sanitizer.
# Harnesses are found by name: a new *.c file here is run without further ado.

SANITIZE_OUT := build/sanitize
SANITIZE_PYTHON := $(or $(wildcard $(PY)),python3)
SANITIZE_FLAGS := -std=c11 -D_GNU_SOURCE -O1 -g1 -fPIC -fno-omit-frame-pointer -Wall -Wextra -Werror \
  -ffp-contract=off -fno-math-errno -fexceptions -pthread -Inative/engine -Inative/kernels -Inative/include -Inative/capi -Inative/include/toolkit
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
# Threads treat every ISA alike, so one is enough for the thread sanitizer; kernels take most of the time to compile. So
# those that this processor does not run are left out.
ifeq ($(SANITIZE_NOW),address)
SANITIZE_ISAS := $(shell $(SANITIZE_PYTHON) tools/kernel_list.py --machine "$$(uname -m)" --print-isas --runnable)
else
SANITIZE_ISAS := baseline
endif

.PHONY: sanitize sanitize-ahead sanitize-plain sanitize-address sanitize-thread
sanitize: ## the C harnesses of engine and kernels under ASan+UBSan and under TSan
	@$(MAKE) --no-print-directory -j2 SANITIZE_NOW=plain sanitize-plain
	@$(MAKE) --no-print-directory -j2 sanitize-kinds
	@$(MAKE) --no-print-directory sanitize-capi

# Side by side, so that no processor waits for the last harness of either.
.PHONY: sanitize-kinds sanitize-kind-address sanitize-kind-thread
sanitize-kinds: sanitize-kind-address sanitize-kind-thread
sanitize-kind-address sanitize-kind-thread: sanitize-kind-%:
	@$(MAKE) --no-print-directory SANITIZE_NOW=$* sanitize-$*

# The longest part of `make sanitize`, to be done beside something else; what is not finished, that does.
sanitize-ahead:
	@$(MAKE) --no-print-directory SANITIZE_NOW=address sanitize-objects-address
	@$(MAKE) --no-print-directory SANITIZE_NOW=thread sanitize-objects-thread

# Whole programs against a sanitized build of the library, with Python inside for phase 1.
.PHONY: sanitize-capi
sanitize-capi: $(VENV)/.built ## the C hosts of tests/native/hosts against the library under ASan+UBSan and under TSan
	@if $(PY) -c 'import sysconfig, sys; sys.exit(not sysconfig.get_config_var("Py_ENABLE_SHARED"))'; then \
	  for kind in address thread; do \
	    $(MAKE) --no-print-directory -j2 SANITIZE_NOW=$$kind sanitize-hosts-$$kind || exit 1; done; \
	else echo "  skipped: the C hosts, because $(PY) has no shared libpython to plan in"; fi

.PHONY: soak soak-programs
soak: soak-programs ## the stress harness at full size (64 streams, 10,000 tasks each) under TSan; all random programs
	@STRESS=full $(MAKE) --no-print-directory SANITIZE_NOW=thread $(SANITIZE_OUT)/thread/engine_stress.passed

.PHONY: fuzz
fuzz: $(VENV)/.built ## 1,000,000 random calls of the C names under ASan+UBSan (FUZZ_SEED: which)
	@FUZZ_CALLS=1000000 $(MAKE) --no-print-directory -j2 SANITIZE_NOW=address $(SANITIZE_OUT)/address/hosts/fuzz.passed
	@cat $(SANITIZE_OUT)/address/hosts/fuzz.log

soak-programs: $(VENV)/.built ## 1,000 random stream programs under 20 schedules each
	@ACLNN_PY_SOAK=1 $(PY) -m pytest -q tests/property/test_stream_programs.py

ifdef SANITIZE_NOW
SANITIZE_HERE := $(SANITIZE_OUT)/$(SANITIZE_NOW)
sanitize_comma := ,
sanitize_empty :=
sanitize_space := $(sanitize_empty) $(sanitize_empty)
SANITIZE_CC := $(CC) $(SANITIZE_FLAGS) $(SANITIZE_$(SANITIZE_NOW))
# Parts of kernels stay functions here (native/kernels/define.h): inlined into every loop they take 90 s a file.
SANITIZE_KERNEL_CC := $(SANITIZE_CC) -fno-trapping-math -DACLPY_PARTS_APART
SANITIZE_OBJECTS := $(SANITIZE_LIBRARY:native/%.c=$(SANITIZE_HERE)/%.o) \
  $(foreach isa,$(SANITIZE_ISAS),$(SANITIZE_KERNELS:native/kernels/%.c=$(SANITIZE_HERE)/kernels-$(isa)/%.o))
SANITIZE_PROGRAMS := $(SANITIZE_HARNESSES:tests/native/%.c=$(SANITIZE_HERE)/%)

.SECONDARY: $(SANITIZE_OBJECTS) $(SANITIZE_PROGRAMS) $(SANITIZE_PROGRAMS:%=%.o)
# The kernels' take longest: beside the others, not after them.
SANITIZE_LONG := $(filter %/kernels_post_ops,$(SANITIZE_PROGRAMS)) $(filter %/kernels_softmax,$(SANITIZE_PROGRAMS)) \
  $(filter %/kernels_places,$(SANITIZE_PROGRAMS))
sanitize-$(SANITIZE_NOW): $(SANITIZE_LONG:%=%.passed) $(SANITIZE_PROGRAMS:%=%.passed)
	@echo "$(words $(SANITIZE_PROGRAMS)) harnesses pass ($(SANITIZE_NOW): $(SANITIZE_$(SANITIZE_NOW)))"

.PHONY: sanitize-objects-$(SANITIZE_NOW)
sanitize-objects-$(SANITIZE_NOW): $(SANITIZE_OBJECTS)

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
	@$(SANITIZE_KERNEL_CC) $(shell $(SANITIZE_PYTHON) tools/kernel_list.py --flags $(1)) -DACLPY_KERNEL_ISA=$(1) \
	  -c $$< -o $$@
endef
$(foreach isa,$(SANITIZE_ISAS),$(eval $(call sanitize_kernels,$(isa))))

# The engine knows no kernel: its harnesses need not wait for them.
SANITIZE_ENGINE := $(filter $(SANITIZE_HERE)/engine/%,$(SANITIZE_OBJECTS))
$(SANITIZE_HERE)/engine_%: tests/native/engine_%.c $(SANITIZE_ENGINE) $(SANITIZE_HEADERS)
	@$(SANITIZE_CC) $< $(SANITIZE_ENGINE) $(SANITIZE_LINK) -lm -ldl -o $@

# Their own accesses are no threads' matter: the kernels' are, in threads that the sanitizer sees all the same.
SANITIZE_HARNESS_address := $(SANITIZE_CC) -O2
SANITIZE_HARNESS_thread := $(CC) $(SANITIZE_FLAGS) -O2 -DSANITIZED=1 -DTHREAD_SANITIZED=1
$(SANITIZE_HERE)/kernels_%.o: tests/native/kernels_%.c $(SANITIZE_HEADERS)
	@mkdir -p $(@D)
	@$(SANITIZE_HARNESS_$(SANITIZE_NOW)) -c $< -o $@

$(SANITIZE_HERE)/kernels_%: $(SANITIZE_HERE)/kernels_%.o $(SANITIZE_OBJECTS)
	@$(SANITIZE_CC) $< $(SANITIZE_OBJECTS) $(SANITIZE_LINK) -lm -ldl -o $@

# It holds waiters at calls from one file of the engine into another.
$(SANITIZE_HERE)/engine_shutdown_late: private SANITIZE_LINK := -Wl,--wrap=eng_memory_find,--wrap=eng_capture_check_context

# Run afresh each time: timing is what the thread sanitizer feeds on.
.PHONY: $(SANITIZE_PROGRAMS:%=%.passed)
$(SANITIZE_PROGRAMS:%=%.passed): %.passed: %
	@$(SANITIZE_ENVIRONMENT) $(SANITIZE_RUN) $< >$<.log 2>&1 || { cat $<.log; echo "failed: $<"; exit 1; }
	@echo "  ok  $(notdir $<) ($(SANITIZE_NOW))"

# ---- the library, and programs that use it as any host does -----------------------------------------------------

SANITIZE_HOSTS := $(patsubst tests/native/hosts/%.c,$(SANITIZE_HERE)/hosts/%,$(wildcard tests/native/hosts/*.c))
SANITIZE_SHARED := $(SANITIZE_HERE)/lib/libaclnn_py.so
SANITIZE_TOOLKIT := $(SANITIZE_OUT)/toolkit
SANITIZE_ABI := $(wildcard aclnn_py/abi/*.py aclnn_py/abi/*.txt) aclnn_py/ops/_index.py

.SECONDARY: $(SANITIZE_HERE)/operator_functions.c $(SANITIZE_HERE)/lacking_functions.c
.PHONY: sanitize-hosts-$(SANITIZE_NOW) $(SANITIZE_HOSTS:%=%.passed)
sanitize-hosts-$(SANITIZE_NOW): $(SANITIZE_HOSTS:%=%.passed)
	@echo "$(words $(SANITIZE_HOSTS)) hosts pass ($(SANITIZE_NOW): $(SANITIZE_$(SANITIZE_NOW)))"

$(SANITIZE_HERE)/%_functions.c: $(SANITIZE_ABI)
	@mkdir -p $(@D)
	@$(SANITIZE_PYTHON) aclnn_py/abi/$(if $(filter operator,$*),functions,lacking).py $@

# Two thousand functions that pass their arguments on: optimising them takes long and finds nothing.
$(SANITIZE_HERE)/%_functions.o: $(SANITIZE_HERE)/%_functions.c $(SANITIZE_HEADERS)
	@$(SANITIZE_CC) -O0 -c $< -o $@

$(SANITIZE_SHARED): $(SANITIZE_OBJECTS) $(SANITIZE_HERE)/operator_functions.o $(SANITIZE_HERE)/lacking_functions.o
	@mkdir -p $(@D)
	@$(SANITIZE_CC) -shared -Wl,--version-script=native/aclpy.map -Wl,-soname,$(@F) $^ -lm -ldl -o $@

$(SANITIZE_TOOLKIT)/set_env.sh: $(SANITIZE_ABI) $(SANITIZE_HEADERS)
	@rm -rf $(@D)
	@$(SANITIZE_PYTHON) -m aclnn_py toolkit --into $(@D) >$(SANITIZE_OUT)/toolkit.log

$(SANITIZE_HERE)/hosts/%: tests/native/hosts/%.c $(SANITIZE_SHARED) $(SANITIZE_TOOLKIT)/set_env.sh
	@mkdir -p $(@D)
	@$(SANITIZE_CC) -I$(SANITIZE_TOOLKIT)/include $< -L$(SANITIZE_HERE)/lib -Wl,-rpath,$(CURDIR)/$(SANITIZE_HERE)/lib \
	  -laclnn_py -lm -o $@

# Python in the process is not built with sanitizers: hosts/leaks.txt says what of it is left out. Its lock is made of
# what the thread sanitizer knows, so nothing has to be left out there. Once with kernels on the calling thread, once not.
SANITIZE_INSIDE := ACLNN_PY_PYTHON=$(abspath $(SANITIZE_PYTHON)) PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=1 \
  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/native/hosts/leaks.txt:print_suppressions=0 TSAN_OPTIONS=halt_on_error=1
$(SANITIZE_HOSTS:%=%.passed): %.passed: %
	@(for inline in 1 0; do ACLNN_PY_INLINE=$$inline $(SANITIZE_INSIDE) $(SANITIZE_RUN) $< || exit 1; done) >$<.log 2>&1 \
	  || { cat $<.log; echo "failed: $<"; exit 1; }
	@echo "  ok  $(notdir $<) ($(SANITIZE_NOW))"
endif
