# SPDX-License-Identifier: MIT
"""Maps in PFM, read as others read them."""
import numpy as np


def pfm(path):
    """A map of one channel, little-endian: (height, width), the upper row first."""
    with open(path, "rb") as file:
        assert file.readline() == b"Pf\n"
        width, height = map(int, file.readline().split())
        assert float(file.readline()) < 0
        return np.frombuffer(file.read(), "<f4").reshape(height, width)[::-1]
