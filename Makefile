# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` set up everything they need in .venv; `make help` lists the rest.

VENV ?= .venv
PYTHON ?=
BIN := $(VENV)/bin
PY := $(BIN)/python
# Twice quiet: errors only.
PIP := $(PY) -m pip --quiet --quiet --disable-pip-version-check
# Make sets CC to "cc" by itself; only a CC that somebody chose is passed on.
ifneq ($(filter environment environment% command,$(firstword $(origin CC))),)
export CC
CHOSEN_CC := $(CC)
endif

# What the native build reads. Its rebuild needs no network: everything it uses is in the environment.
NATIVE_SOURCES := tools/kernel_list.py $(shell find native -type f ! -path '*/aclnn_native/*' ! -name '*.pyc')

# A copied or moved checkout, or a Python that was upgraded away, must not be served by the old environment.
VENV_FITS := $(shell [ "$$(cat $(VENV)/.root 2>/dev/null)" = "$(CURDIR)" ] && $(PY) -c '' 2>/dev/null && echo yes)

.DEFAULT_GOAL := help
.PHONY: help demo test lint mutants generate format install clean distclean stale-venv

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

# ---- environment ------------------------------------------------------------------------------------------

ifneq ($(VENV_FITS),yes)
$(VENV)/.root: stale-venv
endif

$(VENV)/.root:
	@python=$$(PYTHON='$(PYTHON)' CC='$(CHOSEN_CC)' sh tools/check_host.sh) || exit 1; \
	echo "Setting up $(VENV) with $$python (once; about a minute)"; \
	"$$python" -m venv --clear $(VENV)
	@echo "$(CURDIR)" > $@

$(VENV)/.installed: $(VENV)/.root pyproject.toml tools/requirements.py
	@echo "Installing what pyproject.toml asks for into $(VENV)"
	@$(PY) tools/requirements.py build test samples > $(VENV)/requirements.txt
	@$(PIP) install -r $(VENV)/requirements.txt
	@touch $@

$(VENV)/.built: $(VENV)/.installed $(NATIVE_SOURCES)
	@echo "Building the native library"
	@$(PIP) install --no-build-isolation --no-deps --no-index -e .
	@touch $@

install: $(VENV)/.built ## the environment, installed and built, ready for `. .venv/bin/activate`

# ---- what people run --------------------------------------------------------------------------------------

demo: $(VENV)/.built ## two samples: one operator in C names, and training on real data
	@echo; echo "== samples/python/softmax_backward.py"
	@$(PY) samples/python/softmax_backward.py
	@echo; echo "== samples/python/train_digits.py --loss log_softmax"
	@$(PY) samples/python/train_digits.py --loss log_softmax
	@echo; echo "== samples/python/train_digits.py --loss softmax"
	@$(PY) samples/python/train_digits.py --loss softmax
	@echo; echo "Done. The loss curves are in:"
	@ls -1 "$(CURDIR)"/out/*.png

test: lint ## ruff, mypy, import-linter and pytest
	@$(PY) -m pytest -q -n auto

lint: $(VENV)/.built ## ruff, mypy and import-linter only
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

mutants: $(VENV)/.built ## plants faults one by one; each must turn the suite red
	@$(PY) tools/mutants.py

# ---- generated and formatted ------------------------------------------------------------------------------

generate: $(VENV)/.built ## every generated file: status header, stubs, README tables
	@$(PY) tools/generate_status.py
	@$(PY) tools/generate_soc.py
	@$(PY) tools/generate_abi.py
	@$(PY) tools/generate_headers.py
	@$(PY) tools/generate_runtime.py
	@$(PY) tools/generate.py
	@$(PY) tools/support_table.py
	@$(PY) tools/dialect_tables.py

format: $(VENV)/.built ## ruff and, where installed, clang-format
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .
	@if command -v clang-format >/dev/null 2>&1; then \
	  find native tests/native tests/cuda samples \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cpp' \) -exec clang-format -i {} + ; \
	else echo "clang-format is not installed: C files left as they are"; fi

clean: ## build results and caches; keeps the environment
	@rm -rf build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +
	@rm -f $(VENV)/.built

distclean: clean ## the environment too
	@rm -rf $(VENV)

include tests/native/sanitize.mk tests/native/arm64.mk tests/native/musl.mk tests/native/avx512.mk tests/cuda/cuda.mk benchmarks/bench.mk
