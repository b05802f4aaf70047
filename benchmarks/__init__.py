# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: this library beside PyTorch, oneDNN and NumPy, and beside the machine's own limit."""
