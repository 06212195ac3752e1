"""Pictures and maps in memory of numpy and of others. SPDX-License-Identifier: MIT"""
from __future__ import annotations

import sys
from typing import Any, List, Sequence, Tuple

import numpy as np

from ._library import HOST, Format, Image


def _holders(arrays: List[Any], i: int) -> int:
    return sys.getrefcount(arrays[i])


_NOBODY = _holders([[]], 0)  # what the list itself counts for


class Maps:
    """Memory of maps: what nobody uses any longer becomes the next one. Fresh memory costs a page
    fault for each 4 KiB. One thread at a time."""
    MOST = 12  # of two frames in flight and two results in use

    def __init__(self) -> None:
        self._arrays: List[Any] = []

    def take(self, kinds: Sequence[Tuple[Any, Tuple[int, ...]]]) -> List[Any]:
        """Arrays of these types and shapes, of any values."""
        taken = [self._take(np.dtype(dtype), shape) for dtype, shape in kinds]
        self._arrays = self._arrays[-self.MOST:]
        return [array.view() for array in taken]

    def _take(self, dtype: Any, shape: Tuple[int, ...]) -> Any:
        for i in range(len(self._arrays)):
            if _holders(self._arrays, i) == _NOBODY:
                array = self._arrays[i]
                if array.shape == shape and array.dtype == dtype:
                    return array
        self._arrays.append(np.empty(shape, dtype))
        return self._arrays[-1]


def picture_image(name: str, picture: Any, size: Tuple[int, int], bgr: bool) -> Tuple[Image, Any]:
    """The image of a picture of size (H, W), and what keeps it there."""
    if not isinstance(picture, np.ndarray) and hasattr(picture, "__dlpack__") and \
            not hasattr(picture, "__array_interface__"):
        picture = np.from_dlpack(picture)
    v = np.asarray(picture)
    height, width = size
    formats = {size: Format.GRAY8, (*size, 3): Format.BGR8 if bgr else Format.RGB8,
               (*size, 4): Format.RGBA8, (*size, 2): Format.YUYV,
               (height + height // 2, width): Format.NV12}
    if v.dtype != np.uint8 or v.shape not in formats or (bgr and v.shape == (*size, 4)):
        others = ", ".join(map(str, list(formats)[3 if bgr else 2:]))
        raise ValueError(f"{name}: uint8 of shape {size} or {(*size, 3)} is needed, or, of "
                         f"{'' if bgr else 'RGBA, '}YUYV or NV12, {others}, not {v.dtype} of shape "
                         f"{v.shape}")
    pixel = (v.shape[2], 1) if v.ndim == 3 else (1,)
    if v.strides[1:] != pixel or v.strides[0] < width * pixel[0]:
        v = np.ascontiguousarray(v)
    return Image(v.ctypes.data, width, height, v.strides[0], formats[v.shape], HOST), v


def map_image(array: Any, format: Format) -> Image:
    """The image of a map, contiguous, whose last dimensions are H and W (or H, W and 3)."""
    color = format in (Format.RGB8, Format.BGR8)
    height, width = array.shape[-3:-1] if color else array.shape[-2:]
    row_bytes = width * array.dtype.itemsize * (3 if color else 1)
    return Image(array.ctypes.data, width, height, row_bytes, format, HOST)
