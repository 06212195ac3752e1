"""What tests/degrade.py makes of pictures. SPDX-License-Identifier: MIT"""
import math
import pathlib
import sys

import numpy as np
import pytest

pytest.importorskip("PIL")
sys.path.append(str(pathlib.Path(__file__).parents[1]))
degrade = pytest.importorskip("degrade")

COUNT = (61, 101, 1)
STEPS = (np.arange(61 * 101) % 251).astype(np.uint8).reshape(COUNT)
ROWS = (4 * np.arange(61)[:, None, None] * np.ones(COUNT)).astype(np.uint8)


def pair(keys, picture):
    parsed = degrade.parse(keys)
    random = np.random.RandomState(int(parsed["seed"]))
    return [degrade.degrade(picture, parsed, right, random).astype(int) for right in (0, 1)]


@pytest.mark.parametrize("keys, picture, right", [
    ("gain=1", STEPS, lambda v: v),
    ("gain=1.3,offset=10", STEPS, lambda v: np.minimum(np.floor(1.3 * v + 10.5), 255)),
    ("offset=-20,gamma=2", STEPS, lambda v: np.maximum(np.floor(v * v / 255 - 19.5), 0)),
    ("rows=0.25", ROWS, lambda v: np.minimum(v + 1, 240)),
    ("rows=-1.5", ROWS, lambda v: np.maximum(v - 6, 0))])
def test_right(keys, picture, right):
    """What another camera makes of a picture, in the right one alone."""
    left, changed = pair(keys, picture)
    assert (left == picture).all() and (changed == right(picture.astype(float))).all()


def test_vignette():
    changed = pair("vignette=0.4", STEPS)[1]
    for y, x, gain in ((30, 50, 1), (0, 100, 0.6), (0, 50, 0.8)):
        assert changed[y, x] == math.floor(gain * STEPS[y, x, 0] + 0.5)


def test_blur():
    dot = np.zeros(COUNT, np.uint8)
    dot[30, 50] = 250
    changed = pair("blur=1", dot)[1]
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            weight = math.exp(-(dx * dx + dy * dy) / 2) / (2 * math.pi)  # its sum is 1
            assert abs(changed[30 + dy, 50 + dx] - 250 * weight) <= 1


def test_noise():
    grey = np.full(COUNT, 128, np.uint8)
    left, right = (view - 64 for view in pair("light=0.5,noise=5", grey))
    assert abs(left.mean()) < 0.3 and abs(left.std() - 5) < 0.2
    assert abs((left * right).sum() / (left * left).sum()) < 0.1  # each camera has its own
    again, other = (pair(f"light=0.5,noise=5,seed={n}", grey)[1] - 64 for n in (1, 2))
    assert (again == right).all() and (other != right).any()


def test_jpeg():
    squares = (np.arange(61 * 101) ** 2 % 251).astype(np.uint8).reshape(COUNT)
    off = []
    for quality in (20, 95):
        left, right = pair(f"jpeg={quality}", squares)
        assert (left == right).all()
        off.append(abs(left - squares).mean())
    assert 0.2 < off[1] < 4 and off[0] > 4 * off[1]
