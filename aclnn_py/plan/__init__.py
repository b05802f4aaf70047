# SPDX-License-Identifier: Apache-2.0
"""The planner: check, infer, choose, lay out. Pure functions: no I/O, no device."""
