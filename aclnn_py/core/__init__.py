# SPDX-License-Identifier: Apache-2.0
"""The shared words: dtypes, formats, tensors, specs, errors, settings."""
