# SPDX-License-Identifier: Apache-2.0
"""What the C names look like from C: prototypes, headers, the toolkit tree."""
