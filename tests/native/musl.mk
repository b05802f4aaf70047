# SPDX-License-Identifier: Apache-2.0
# `make test-musl`: the engine and its harnesses built with musl, another C library (Alpine's), linked statically and run.
# Where its compiler is missing it says so and succeeds.

MUSL_CC ?= musl-gcc
MUSL_OUT := build/musl
# The kernel's own headers are not musl's: from wherever this machine has them, after all others.
MUSL_HEADERS := $(addprefix -idirafter ,$(wildcard /usr/include /usr/include/$(shell uname -m)-linux-gnu))
# Without -fexceptions, for unwinding here is the other library's: no harness needs it.
MUSL_FLAGS := -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -pthread \
  -Inative/engine -Inative/kernels -Inative/include -Inative/capi -Inative/include/toolkit -Itests/native $(MUSL_HEADERS)
MUSL_OBJECTS := $(patsubst native/%.c,$(MUSL_OUT)/%.o,$(wildcard native/engine/*.c))
MUSL_PROGRAMS := $(patsubst tests/native/%.c,$(MUSL_OUT)/%,$(wildcard tests/native/engine_*.c))

.PHONY: test-musl run-musl
test-musl: ## the engine's harnesses with another C library
	@if command -v $(firstword $(MUSL_CC)) >/dev/null 2>&1; then $(MAKE) --no-print-directory run-musl; \
	else echo "skipped: $(firstword $(MUSL_CC)) was not found (Debian, Ubuntu: sudo apt-get install musl-tools)"; fi

run-musl: $(MUSL_PROGRAMS)
	@for program in $(MUSL_PROGRAMS); do \
	  timeout 120 $$program >$$program.log 2>&1 || { cat $$program.log; echo "failed: $$program (musl)"; exit 1; }; \
	  echo "  ok  $$(basename $$program) (musl)"; \
	done
	@echo "$(words $(MUSL_PROGRAMS)) harnesses pass (musl)"

.SECONDARY: $(MUSL_OBJECTS)
$(MUSL_OUT)/%.o: native/%.c $(wildcard native/*/*.h)
	@mkdir -p $(@D)
	@$(MUSL_CC) $(MUSL_FLAGS) -c $< -o $@

# What it replaces, as in sanitize.mk.
$(MUSL_OUT)/engine_shutdown_late: private MUSL_LINK := -Wl,--wrap=eng_memory_find,--wrap=eng_capture_check_context
$(MUSL_OUT)/%: tests/native/%.c $(MUSL_OBJECTS) $(wildcard tests/native/*.h)
	@$(MUSL_CC) $(MUSL_FLAGS) -static $< $(MUSL_OBJECTS) $(MUSL_LINK) -lm -o $@
