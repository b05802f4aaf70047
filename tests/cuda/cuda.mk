# SPDX-License-Identifier: Apache-2.0
# `make test-cuda`: what can be known of the CUDA kernels without a card. Installs NVIDIA's run-time compiler into the
# environment; from then on `make test` compiles a spread of them, too.

.PHONY: test-cuda
test-cuda: $(VENV)/.built ## every CUDA kernel compiled for every card, and run as host code; no card needed
	@$(PY) tools/requirements.py nvrtc > $(VENV)/nvrtc.txt
	@$(PIP) install -r $(VENV)/nvrtc.txt
	@NVRTC=full $(PY) -m pytest -q tests/unit/test_cuda_kernels.py tests/unit/test_nvrtc.py tests/conformance/test_cuda_twin.py
	@echo "Registers, spills and shared memory of every kernel: out/cuda_resources.tsv"
