"""livestereo.h for ctypes: structs, functions and errors under the header's names.
SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
import enum
import os
import pathlib
import types
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_float, c_int, c_int64,
                    c_size_t, c_ssize_t, c_uint64, c_void_p, sizeof)
from typing import Any, Dict, Optional, Tuple


class Error(RuntimeError):
    """The library refuses a call: str() is its sentence, errno its code, such as errno.ENODEV."""
    __module__ = "livestereo"

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.errno = abs(code)

    def __reduce__(self) -> Tuple[type, Tuple[int, str]]:
        return type(self), (self.errno, str(self))


class Format(enum.IntEnum):
    GRAY8, RGB8, BGR8, RGBA8, NV12, YUYV = 1, 2, 3, 4, 5, 6
    DISP16, CONF8, FLOW16, M32F = 32, 33, 34, 36


HOST = 0
WARNING = 1
UNKNOWN = -32768


def _check_number(value: Any, kept: Any, name: str) -> None:
    """ctypes cuts integers to the bits of their field."""
    if isinstance(value, int) and isinstance(kept, int) and value != kept:
        raise ValueError(f"{name}{value} is too large")


class Int(c_int):
    """An argument."""
    @classmethod
    def from_param(cls, value: Any) -> Any:
        _check_number(int(value), c_int(value).value, "")
        return c_int(value)


def text(value: Any) -> bytes:
    """As C takes it: it would end at a NUL."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError(f"{value!r} holds a NUL")
    return encoded


class Struct(Structure):
    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, int):
            _check_number(value, getattr(self, name), f"{name} ")

    def __repr__(self) -> str:
        values = (f"{name}={_plain(getattr(self, name))!r}" for name, *_ in self._fields_)
        return f"{type(self).__name__}({', '.join(values)})"


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, ctypes.Array) else value


class Image(Struct):
    _fields_ = [("data", c_void_p), ("width", c_int), ("height", c_int), ("row_bytes", c_ssize_t),
                ("format", c_int), ("memory", c_int), ("chroma", c_void_p),
                ("chroma_row_bytes", c_ssize_t), ("reserved", c_uint64 * 2)]
    __setattr__ = Structure.__setattr__  # its numbers are those of an array that is there


class Parameter(Struct):
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("group", c_char_p), ("help", c_char_p),
                ("choices", c_char_p), ("type", c_int), ("at_open", c_int), ("min", c_double),
                ("max", c_double), ("step", c_double), ("def", c_double),
                ("reserved", c_uint64 * 4)]


class Camera(Struct):
    """Lengths in px. distortion: 0 none, 1 radtan, 2 rational, 3 fisheye, with coefficients k."""
    _fields_ = [("width", c_int), ("height", c_int), ("fx", c_double), ("fy", c_double),
                ("cx", c_double), ("cy", c_double), ("distortion", c_int), ("k", c_double * 8)]


class Rig(Struct):
    """Two cameras: camera[0], the left one, and camera[1]. A point X of the left camera's frame is
    R X + T in the right one's. np.array(rig.R) has shape (3, 3), np.array(rig.T) (3,); T is in
    metres where metric is 1. rotation (2, 3, 3) and projection (2, 3, 4) rectify."""
    _fields_ = [("camera", Camera * 2), ("R", c_double * 3 * 3), ("T", c_double * 3),
                ("metric", c_int), ("rectified", c_int), ("has_rectification", c_int),
                ("rotation", c_double * 3 * 3 * 2), ("projection", c_double * 4 * 3 * 2),
                ("reserved", c_uint64 * 8)]


class Geometry(Struct):
    """The rectified left camera: disparity d px at (x, y) is Z = fx * baseline / (d + doffs),
    X = (x - cx) Z / fx, Y = (y - cy) Z / fy; in px, the baseline in metres where metric is 1."""
    _fields_ = [("fx", c_double), ("fy", c_double), ("cx", c_double), ("cy", c_double),
                ("baseline", c_double), ("doffs", c_double), ("metric", c_int),
                ("reserved", c_uint64 * 4)]


SweepFunction = CFUNCTYPE(c_int, c_void_p, c_int, c_double, c_double)
LogFunction = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
EachFunction = CFUNCTYPE(c_int, c_void_p, POINTER(Parameter))


class Sized(Struct):
    """A struct that begins with its size."""

    def __init__(self, **values: Any) -> None:
        super().__init__(size=sizeof(self), **values)


class Options(Sized):
    _fields_ = [("size", c_size_t), ("width", c_int), ("height", c_int), ("format", c_int),
                ("rig", POINTER(Rig)), ("remap", c_void_p), ("geometry", c_void_p),
                ("alpha", c_double), ("log", LogFunction), ("log_context", c_void_p),
                ("log_level", c_int), ("sequence", c_int), ("reserved", c_uint64 * 8)]


class Frame(Sized):
    _fields_ = [("size", c_size_t), ("left", Image), ("right", Image), ("disparity", Image),
                ("confidence", Image), ("motion", Image), ("rectified", Image * 2),
                ("number", c_int64), ("stream", c_void_p), ("depth", Image), ("points", Image),
                ("min_confidence", c_int), ("reserved", c_uint64 * 8)]


class Result(Sized):
    _fields_ = [("size", c_size_t), ("ms", c_double), ("stage_ms", c_double * 32),
                ("left_bp_ms", c_double), ("half_steps", c_int), ("updated", c_float * 64),
                ("reserved", c_uint64 * 8)]


class Info(Sized):
    _fields_ = [("size", c_size_t), ("backend", c_char_p), ("width", c_int), ("height", c_int),
                ("labels", c_int), ("is_resampled", c_int * 2), ("frames_in_flight", c_int),
                ("gpu_lost", c_int), ("memory", c_size_t), ("has_geometry", c_int),
                ("geometry", Geometry), ("kind", c_int), ("min_disparity", c_int),
                ("valid_x", c_int), ("valid_y", c_int), ("valid_width", c_int),
                ("valid_height", c_int), ("rotation", c_double * 3 * 3 * 2),
                ("reserved", c_uint64 * 8)]


class Probe(Sized):
    _fields_ = [("size", c_size_t), ("label", c_int), ("labels", c_int), ("u", c_double),
                ("v", c_double), ("step", c_double), ("u_count", c_int), ("v_count", c_int),
                ("cost", c_double * 512), ("belief", c_double * 512), ("reserved", c_uint64 * 8)]


class Problem(Sized):
    _fields_ = [("size", c_size_t), ("width", c_int), ("height", c_int), ("labels", c_int),
                ("number", c_int), ("cost", c_void_p), ("row_bytes", c_ssize_t),
                ("pixel_bytes", c_ssize_t), ("label_bytes", c_ssize_t), ("smoothness", c_int),
                ("lambda", c_double), ("truncation", c_double), ("table", c_void_p),
                ("right", c_void_p), ("down", c_void_p), ("sweeps", c_int),
                ("after_sweep", SweepFunction), ("context", c_void_p)]


class Solution(Sized):
    _fields_ = [("size", c_size_t), ("label", c_void_p), ("energy", c_double),
                ("bound", c_double), ("sweeps", c_int),
                ("reserved", c_uint64 * 4)]


FUNCTIONS: Dict[str, Tuple[Any, ...]] = {  # name: (result, arguments...)
    "close": (None, POINTER(c_void_p)),
    "depth": (c_int, POINTER(Geometry), POINTER(Image), POINTER(Image)),
    "energy": (c_int, c_void_p, POINTER(c_double)),
    "error": (c_char_p, c_void_p),
    "forget": (c_int, c_void_p),
    "get_info": (c_int, c_void_p, POINTER(Info)),
    "get_probe": (c_int, c_void_p, Int, Int, POINTER(Probe)),
    "open": (c_int, POINTER(c_void_p), c_void_p, POINTER(Options)),
    "parameters": (c_int, EachFunction, c_void_p),
    "points": (c_int, POINTER(Geometry), POINTER(Image), POINTER(Image), c_double, c_void_p,
               c_size_t, POINTER(c_size_t)),
    "preset": (c_char_p, Int),
    "rig_read": (c_int, POINTER(Rig), POINTER(c_char_p), Int, Int, Int, c_double),
    "settings_close": (None, POINTER(c_void_p)),
    "settings_error": (c_char_p, c_void_p),
    "settings_get": (c_int, c_void_p, c_char_p, c_char_p, c_size_t),
    "settings_open": (c_int, POINTER(c_void_p), c_char_p),
    "settings_set": (c_int, c_void_p, c_char_p, c_char_p),
    "settings_set_weights": (c_int, c_void_p, c_char_p, c_size_t),
    "solve": (c_int, POINTER(Problem), POINTER(Solution)),
    "stage_name": (c_char_p, Int),
    "start": (c_int, c_void_p, POINTER(Frame)),
    "update": (c_int, c_void_p, c_void_p),
    "version": (c_char_p,),
    "wait": (c_int, c_void_p, POINTER(Result)),
    "wait_for": (c_int, c_void_p, c_double, POINTER(Result)),
}


def _load() -> types.SimpleNamespace:
    """The library that lies beside this file, as in the wheel, or else the system's."""
    beside = pathlib.Path(__file__).with_name("liblivestereo.so.0")
    library = ctypes.CDLL(str(beside) if beside.exists() else beside.name)
    functions = {name: getattr(library, "livestereo_" + name) for name in FUNCTIONS}
    for name, (result, *arguments) in FUNCTIONS.items():
        functions[name].restype, functions[name].argtypes = result, arguments
    return types.SimpleNamespace(**functions)


lib = _load()


def check(code: int, handle: Optional[c_void_p] = None) -> None:
    """handle None: of a call that has none."""
    if code:
        raise Error(code, lib.error(handle).decode())
