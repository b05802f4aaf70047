# SPDX-License-Identifier: Apache-2.0
"""What operators are: one file a family, imported when one of its operators is asked for."""
