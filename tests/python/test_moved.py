"""What tests/moved.py measures, against figures worked out by hand. SPDX-License-Identifier: MIT"""
import pathlib
import sys

import numpy as np
import pytest

pytest.importorskip("PIL")
sys.path.append(str(pathlib.Path(__file__).parents[1]))
moved = pytest.importorskip("moved")


def test_ramp():
    """A ramp of 10 grey levels a px that moves by half a px; the last pixel's target lies outside,
    one pixel is left out and one leads beside it."""
    before, after = (np.arange(first, first + 60, 10).reshape(1, 6, 1) for first in (0, 25))
    motion, left_out = np.zeros((2, 1, 6)), np.zeros((1, 6), bool)
    motion[0] = 0.5
    motion[1] = 0
    assert moved.differences(motion, before, after, left_out) == pytest.approx((5 * 25, 5 * 30, 5))
    left_out[0, 2] = True
    assert moved.differences(motion, before, after, left_out)[2] == 3  # 0, 3, 4
    motion[0, 0, 0] = np.nan
    assert moved.differences(motion, before, after, left_out)[2] == 2


def test_change():
    """Of twenty pixels one changes by 5 px, one is unknown."""
    motion, last = np.zeros((2, 2, 10)), np.zeros((2, 2, 10))
    last[:, 0, 5] = 3, 4
    last[:, 0, 6] = np.nan
    assert moved.change(motion, last, np.zeros((2, 10), bool)) == pytest.approx(5 / 19)
