"""Pictures and maps in memory of others: numpy's, DLPack's, CUDA's. SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import sys
from ctypes import (CFUNCTYPE, POINTER, PYFUNCTYPE, Structure, byref, c_char_p, c_int, c_int32,
                    c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p, py_object, pythonapi)
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._library import CUDA, HOST, Error, Format, Image

# ---- DLPack


class Tensor(Structure):  # dlpack.h: DLTensor
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


Deleter = CFUNCTYPE(None, c_void_p)


class Managed(Structure):  # dlpack.h: DLManagedTensor
    _fields_ = [("tensor", Tensor), ("manager", c_void_p), ("deleter", Deleter)]


DL_CUDA, DL_CUDA_MANAGED = 2, 13
KINDS = {"i": 0, "u": 1, "f": 2}  # numpy's dtype.kind as dlpack.h numbers it
DLTENSOR = b"dltensor"
_new_capsule = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))
# By address: a py_object would be a new reference to what is being freed.
_is_capsule = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", pythonapi))
_capsule_pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_lent: Dict[int, Any] = {}  # what a capsule or its taker uses, by the address of its Managed


def _drop(address: int) -> None:
    _lent.pop(address, None)


def _drop_untaken(capsule: int) -> None:
    if _is_capsule(capsule, DLTENSOR):  # whoever takes the tensor over renames the capsule
        _drop(_capsule_pointer(capsule, DLTENSOR))


_take_back, _capsule_goes = Deleter(_drop), Deleter(_drop_untaken)


def _lend(array: "DeviceArray") -> Any:
    """A capsule; the array lives until its taker calls the deleter, or it goes untaken."""
    dimensions = len(array.shape)
    shape = (c_int64 * dimensions)(*array.shape)
    strides = (c_int64 * dimensions)(*_contiguous(array.shape, 1))
    tensor = Tensor(array.data, *array.__dlpack_device__(), dimensions, KINDS[array.dtype.kind],
                    8 * array.dtype.itemsize, 1, shape, strides)
    managed = Managed(tensor, None, _take_back)
    address = ctypes.addressof(managed)
    _lent[address] = managed, shape, strides, array
    return _new_capsule(address, DLTENSOR, ctypes.cast(_capsule_goes, c_void_p))


class View(NamedTuple):
    """An array where it lies."""
    data: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # bytes
    dtype: np.dtype[Any]
    memory: int
    owner: Any  # keeps it there


def _contiguous(shape: Sequence[int], item: int) -> Tuple[int, ...]:
    return tuple(item * int(np.prod(shape[i + 1:])) for i in range(len(shape)))


def view_of_capsule(capsule: Any) -> View:
    """A tensor in memory of a GPU. Nobody else takes it over, so the capsule keeps it."""
    t = Managed.from_address(_capsule_pointer(id(capsule), DLTENSOR)).tensor
    kind = next((kind for kind, code in KINDS.items() if code == t.code), "V")
    dtype = np.dtype(f"{kind}{t.bits * t.lanes // 8}")
    shape = tuple(t.shape[:t.ndim])
    strides = tuple(dtype.itemsize * s for s in t.strides[:t.ndim]) if t.strides else \
        _contiguous(shape, dtype.itemsize)
    return View((t.data or 0) + t.byte_offset, shape, strides, dtype, CUDA, capsule)


# ---- CUDA


@functools.lru_cache(None)
def _driver() -> Any:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise Error(errno.ENODEV, f"memory of a GPU needs NVIDIA's driver: {error}") from None
    driver.cuInit(0)
    return driver


def cuda(name: str, *arguments: Any) -> None:
    """A function of CUDA's driver interface."""
    code = getattr(_driver(), name)(*arguments)
    if code:
        raise Error(errno.EIO, f"{name}: error {code} of CUDA")


@functools.lru_cache(None)
def _primary_context(device: int) -> c_void_p:
    context = c_void_p()
    cuda("cuDevicePrimaryCtxRetain", byref(context), c_int(device))
    return context


@contextlib.contextmanager
def _on(device: int) -> Iterator[None]:
    cuda("cuCtxPushCurrent_v2", _primary_context(device))
    try:
        yield
    finally:
        cuda("cuCtxPopCurrent_v2", byref(c_void_p()))


class DeviceArray:
    """A map in the memory of a GPU, computed to its end. torch.from_dlpack(), cupy.asarray() and
    the like take it without a copy; numpy.asarray() copies it to the host. When nobody uses it any
    longer, its Matcher has it for another map."""
    data = 0

    def __init__(self, shape: Tuple[int, ...], dtype: Any, device: int) -> None:
        self.shape, self.dtype, self.device = shape, np.dtype(dtype), device
        self.nbytes = self.dtype.itemsize * int(np.prod(shape))
        data = c_uint64()
        with _on(device):
            cuda("cuMemAlloc_v2", byref(data), c_size_t(self.nbytes))
        self.data, self._process = data.value, os.getpid()

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.data, False),
                "strides": None, "stream": None, "version": 3}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return DL_CUDA, self.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Any = None) -> Any:
        """The values are there already, whatever the stream."""
        return _lend(self)

    def __reduce__(self) -> Tuple[Any, ...]:
        return np.array, (np.asarray(self),)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        host = np.empty(self.shape, self.dtype)
        with _on(self.device):
            cuda("cuMemcpyDtoH_v2", c_void_p(host.ctypes.data), c_uint64(self.data),
                 c_size_t(self.nbytes))
        return host if dtype is None else host.astype(dtype, copy=False)

    def __del__(self) -> None:
        if self.data and self._process == os.getpid() and not sys.is_finalizing():
            with _on(self.device):
                cuda("cuMemFree_v2", c_uint64(self.data))  # after what still reads it


# ---- maps


def _holders(arrays: List[Any], i: int) -> int:
    return sys.getrefcount(arrays[i])


_NOBODY = _holders([[]], 0)  # what the list itself counts for


class Maps:
    """Memory of maps: what nobody uses any longer becomes the next one. Fresh memory costs a page
    fault for each 4 KiB, and on a GPU a wait for all of its work. One thread at a time."""
    MOST = 12  # of two frames in flight and two results in use

    def __init__(self, device: Optional[int]) -> None:
        self._device, self._arrays = device, []  # type: Optional[int], List[Any]

    def take(self, kinds: Sequence[Tuple[Any, Tuple[int, ...]]]) -> List[Any]:
        """Arrays of these types and shapes, DeviceArrays where there is a device, of any values."""
        count = len(self._arrays)
        taken = [self._take(dtype, shape) for dtype, shape in kinds]
        is_fresh = len(self._arrays) == count + len(kinds)
        self._arrays = self._arrays[-self.MOST:]
        if self._device is None:
            return [array.view() for array in taken]
        if not is_fresh:  # work may still read what was used before
            with _on(self._device):
                cuda("cuCtxSynchronize")
        return taken

    def _take(self, dtype: Any, shape: Tuple[int, ...]) -> Any:
        for i in range(len(self._arrays)):
            if _holders(self._arrays, i) == _NOBODY:
                array = self._arrays[i]
                if array.shape == shape and array.dtype == dtype:
                    return array
        self._arrays.append(np.empty(shape, dtype) if self._device is None else
                            DeviceArray(shape, dtype, self._device))
        return self._arrays[-1]


# ---- pictures of the caller


def _cuda_interface(picture: Any) -> Dict[str, Any]:
    return getattr(picture, "__cuda_array_interface__", None) or {}


def stream_of(*pictures: Any) -> int:
    """The stream that fills the first picture which names one; 0, the default stream, if none."""
    return next((s for s in (_cuda_interface(p).get("stream") for p in pictures) if s), 0)


def view(picture: Any, stream: int, device: int) -> View:
    """stream: a cudaStream_t of this GPU; work that is put into it later finds the picture
    filled."""
    if not isinstance(picture, np.ndarray):
        device = getattr(picture, "__dlpack_device__", lambda: (0, 0))()[0]
        if device in (DL_CUDA, DL_CUDA_MANAGED):
            return view_of_capsule(picture.__dlpack__(stream=stream or 1))
        interface = _cuda_interface(picture)
        if interface:
            if interface.get("stream") not in (None, stream):
                with _on(device):
                    cuda("cuStreamSynchronize", c_void_p(interface["stream"]))
            shape, dtype = tuple(interface["shape"]), np.dtype(interface["typestr"])
            strides = interface.get("strides") or _contiguous(shape, dtype.itemsize)
            return View(interface["data"][0], shape, tuple(strides), dtype, CUDA, picture)
        if hasattr(picture, "__dlpack__") and not hasattr(picture, "__array_interface__"):
            picture = np.from_dlpack(picture)
    array = np.asarray(picture)
    return View(array.ctypes.data, array.shape, array.strides, array.dtype, HOST, array)


def picture_image(name: str, picture: Any, size: Tuple[int, int], bgr: bool,
                  stream: int, device: int) -> Tuple[Image, Any]:
    """The image of a picture of size (H, W), and what keeps it there."""
    v = view(picture, stream, device)
    height, width = size
    formats = {size: Format.GRAY8, (*size, 3): Format.BGR8 if bgr else Format.RGB8,
               (*size, 4): Format.RGBA8, (*size, 2): Format.YUYV,
               (height + height // 2, width): Format.NV12}
    if v.dtype != np.uint8 or v.shape not in formats or (bgr and v.shape == (*size, 4)):
        others = ", ".join(map(str, list(formats)[3 if bgr else 2:]))
        raise ValueError(f"{name}: uint8 of shape {size} or {(*size, 3)} is needed, or, of "
                         f"{'' if bgr else 'RGBA, '}YUYV or NV12, {others}, not {v.dtype} of shape "
                         f"{v.shape}")
    format = formats[v.shape]
    pixel = (v.shape[2], 1) if len(v.shape) == 3 else (1,)
    if v.strides[1:] != pixel or v.strides[0] < size[1] * pixel[0]:
        if v.memory == CUDA:
            raise ValueError(f"{name}: on the GPU pixels must lie side by side, and its strides "
                             f"are {v.strides}; copy it first")
        v = view(np.ascontiguousarray(v.owner), stream, device)
    return Image(v.data, size[1], size[0], v.strides[0], format, v.memory), v.owner


def map_image(array: Any, format: Format) -> Image:
    """The image of a map, contiguous, whose last dimensions are H and W (or H, W and 3)."""
    color = format in (Format.RGB8, Format.BGR8)
    height, width = array.shape[-3:-1] if color else array.shape[-2:]
    on_device = isinstance(array, DeviceArray)
    data = array.data if on_device else array.ctypes.data
    row_bytes = width * array.dtype.itemsize * (3 if color else 1)
    return Image(data, width, height, row_bytes, format, CUDA if on_device else HOST)
