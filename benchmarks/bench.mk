# SPDX-License-Identifier: Apache-2.0
# `make bench` measures this library beside its peers; `QUICK=1 make bench` is a look in between.

.PHONY: bench bench-setup bench-publish

$(VENV)/.bench: $(VENV)/.built tools/requirements.py pyproject.toml
	@echo "Installing the peers into $(VENV) (once; some gigabytes)"
	@$(PY) tools/requirements.py bench > $(VENV)/bench.txt
	@# One by one: a peer that this machine cannot have is a line in the table, not an error.
	@while read -r peer; do $(PIP) install "$$peer" </dev/null || echo "  without $$peer"; done < $(VENV)/bench.txt
	@touch $@

bench-setup: $(VENV)/.bench

bench: bench-setup ## speed beside PyTorch, oneDNN and NumPy (QUICK=1: under 3 minutes)
	@$(PY) -m benchmarks $(if $(QUICK),--quick) $(BENCH_ARGS)

bench-publish: bench-setup ## the last full run into README and benchmarks/results
	@$(PY) -m benchmarks.publish
