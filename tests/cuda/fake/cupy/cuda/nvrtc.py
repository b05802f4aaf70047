# SPDX-License-Identifier: Apache-2.0
"""``cupy.cuda.nvrtc``: which compiler it is."""


def getVersion():
    return 13, 5
