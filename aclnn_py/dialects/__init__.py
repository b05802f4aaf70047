# SPDX-License-Identifier: Apache-2.0
"""The vocabularies users speak: names, enumerations and statuses; no maths."""
