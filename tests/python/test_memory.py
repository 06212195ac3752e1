"""Pictures and maps in memory of others. SPDX-License-Identifier: MIT"""
import logging

import livestereo as ls
import numpy as np
import pytest
from livestereo import _memory

SIZE = 64, 96  # H, W


def address_of(picture):
    image, _ = _memory.picture_image("left", picture, SIZE, False)
    return image.data, image.row_bytes


def test_rows_apart_are_taken_where_they_are():
    wide = np.zeros((70, 200, 3), np.uint8)
    for picture in (wide[:64, :96], wide[3:67, 104:], wide[6:, 50:146]):
        assert address_of(picture) == (picture.ctypes.data, 600)
    grey = np.zeros((128, 96), np.uint8)[::2]
    assert address_of(grey) == (grey.ctypes.data, 192)
    frozen = np.zeros(SIZE, np.uint8)
    frozen.flags.writeable = False
    assert address_of(frozen) == (frozen.ctypes.data, 96)


def test_other_strides_are_copied(dots):
    left, right = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live")
    expected = m(left, right)
    twice = np.repeat(np.repeat(left, 2, 0), 2, 1)
    planes = np.ascontiguousarray(np.moveaxis(left, 2, 0))
    for picture in (twice[::2, ::2], np.ascontiguousarray(left[::-1])[::-1],
                    np.ascontiguousarray(left[:, ::-1])[:, ::-1], np.moveaxis(planes, 0, 2),
                    np.asfortranarray(left), np.ascontiguousarray(left[..., ::-1])[..., ::-1]):
        assert not picture.flags.c_contiguous and address_of(picture)[0] != picture.ctypes.data
        result = m(picture, right)
        assert np.array_equal(result.disparity, expected.disparity)
        assert np.array_equal(result.left, left)
    one_row = np.broadcast_to(left[:1], left.shape)
    assert np.array_equal(m(one_row, right).left, one_row)


class Interface:
    """Memory with __array_interface__ alone, as other packages' arrays have it."""

    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


class Exchanged:
    """Memory with __dlpack__ alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Interface, Exchanged, memoryview])
def test_host_memory_of_others(kind, dots):
    left, right = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live")
    expected = m(left, right).disparity
    assert address_of(kind(left)) == (left.ctypes.data, 288)
    assert np.array_equal(m(kind(left), kind(right)).disparity, expected)


def test_maps_that_nobody_uses_are_used_again(dots):
    left, right = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live")

    def addresses():
        result = m(left, right)
        return {a.ctypes.data for a in (result.disparity, result.confidence, result.left)}

    first = m(left, right)
    part, kept = first.disparity[3:, ::2], first.disparity[3:, ::2].copy()
    confidence, left_picture = first.confidence, first.left
    del first  # the part alone keeps its map
    used = addresses()
    assert len(used) == 3 and addresses() == used
    assert not used & {part.base.ctypes.data, confidence.ctypes.data, left_picture.ctypes.data}
    m(right, left)
    assert np.array_equal(part, kept)
    many = [m(left, right) for _ in range(20)]
    assert len({r.disparity.ctypes.data for r in many}) == 20


@pytest.fixture
def cuda_matcher():
    try:
        return ls.Matcher(96, 64, preset="live", backend="cuda")
    except ls.Error as error:
        pytest.skip(f"needs a GPU and a library with CUDA: {error}")


def test_a_real_gpu(cuda_matcher, dots):
    pair = dots(96, 64)
    expected = ls.Matcher(96, 64, preset="live", backend="cpu")(*pair)
    for _ in range(20):
        result = cuda_matcher(*pair)
        for name in ("disparity", "confidence", "left"):
            assert np.array_equal(getattr(result, name), getattr(expected, name))


def test_warnings_go_to_the_logger(caplog):
    with caplog.at_level(logging.DEBUG, "livestereo"):
        ls._pass_message(None, 0, b"an error, which is raised")
        ls._pass_message(None, 1, b"the GPU was lost")
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("WARNING",
                                                                        "the GPU was lost")]
