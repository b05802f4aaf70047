# SPDX-License-Identifier: Apache-2.0
# `make test-cuda`: what can be known of the CUDA kernels without a card. Installs NVIDIA's run-time compiler into the
# environment; from then on `make test` compiles a spread of them, too.

CUDA_TESTS := $(wildcard tests/unit/test_cuda_*.py tests/conformance/test_cuda_*.py) tests/unit/test_nvrtc.py \
  tests/unit/test_fake_cupy.py

.PHONY: test-cuda cuda-resources test-gpu bench-gpu

$(VENV)/.nvrtc: $(VENV)/.built tools/requirements.py pyproject.toml
	@$(PY) tools/requirements.py nvrtc > $(VENV)/nvrtc.txt
	@$(PIP) install -r $(VENV)/nvrtc.txt
	@touch $@

test-cuda: $(VENV)/.nvrtc ## every CUDA kernel compiled for every card, and run as host code; no card needed
	@NVRTC=full TWIN=full $(PY) -m pytest -q $(CUDA_TESTS)
	@GPU=fake $(PY) -m pytest -q tests/gpu
	@echo "Registers and shared memory of every kernel: tests/data/cuda_resources.tsv"

cuda-resources: $(VENV)/.nvrtc ## the recorded figures of the CUDA kernels anew
	@$(PY) tools/generate_cuda_resources.py

# ---- with a card ------------------------------------------------------------------------------------------

CUDA ?= 13# the driver's generation, 12 or 13: which CuPy is installed where there is a card
GPU_SETUP = if command -v nvidia-smi >/dev/null 2>&1 && [ ! -e $(VENV)/.cuda$(CUDA) ]; then \
	$(PY) tools/requirements.py cuda$(CUDA) > $(VENV)/cuda.txt && $(PIP) install -r $(VENV)/cuda.txt \
	&& touch $(VENV)/.cuda$(CUDA); fi

test-gpu: $(VENV)/.built ## the suite on an NVIDIA GPU; without one it is skipped with the reason
	@$(GPU_SETUP)
	@GPU=card $(PY) -m pytest -q -rs tests/gpu

bench-gpu: $(VENV)/.built ## speed on an NVIDIA GPU beside PyTorch and plain copies (QUICK=1: a look)
	@$(GPU_SETUP)
	@$(PY) -m benchmarks.gpu $(if $(QUICK),--quick)
