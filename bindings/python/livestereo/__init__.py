# SPDX-License-Identifier: MIT
"""Dense disparity, depth and optical flow by belief propagation, on the CPU or an NVIDIA GPU.

    import livestereo as ls

    m = ls.Matcher(640, 480, preset="live", calibration="rig.yml", disparity_range=96)
    r = m(left, right)
    r.disparity, r.confidence, r.depth, r.points, r.left

    s = ls.solve(costs, smoothness="potts", lambda_=20)  # any labelling problem on a grid
    s.label, s.energy, s.bound

This is liblivestereo, whose contract is livestereo.h, by ctypes. H and W are the height and the
width of pictures in px. A picture is uint8 of shape (H, W), grey, or (H, W, 3), red first.

Pictures are whatever numpy reads (__array_interface__, the buffer protocol), or have
__dlpack__. Those whose pixels do not lie side by side, or whose rows do not follow each other
downwards (mirrored, every second column, planes of colours), are copied; all others are used
where they are, with any number of bytes from row to row. A GPU is busy throughout where one pair is
started before the last is waited for (start(), wait()).

A picture may also be RGBA (H, W, 4), YUYV (H, W, 2) or NV12 (H + H / 2, W).

While the library computes, other threads of Python run. Threads that use one Matcher take turns. A
forked process may go on with a Matcher that uses the CPU; one that uses a GPU raises Error there.
Results and Errors can be pickled.
"""
from __future__ import annotations

import errno
import functools
import logging
import math
import os
import threading
from concurrent.futures import Future
from ctypes import POINTER, byref, c_char_p, c_double, c_size_t, c_void_p, create_string_buffer
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from . import _library as _c
from ._library import UNKNOWN, Camera, Error, Format, Geometry, Rig, check, lib, text
from ._memory import Maps, map_image, picture_image

__all__ = ["Camera", "Error", "Geometry", "Info", "Matcher", "Probe", "Result",
           "Rig", "Setting", "Solution", "UNKNOWN", "flow", "load_rig", "presets", "settings",
           "solve"]
__version__ = lib.version().decode()

Array = np.ndarray[Any, Any]
Path = Union[str, "os.PathLike[str]"]
Value = Union[int, float, bool, str]
T = TypeVar("T")

# ---- settings


class Setting(NamedTuple):
    """A parameter, as the manual lists it."""
    name: str
    type: str  # "int", "real", "bool", "choice"
    unit: str
    group: str
    help: str
    choices: Tuple[str, ...]
    at_open: bool  # Matcher.update() does not change it
    min: float
    max: float
    step: float
    default: Value


def presets() -> List[str]:
    """The names of the presets in alphabetical order."""
    names: List[str] = []
    while (name := lib.preset(len(names))) is not None:
        names.append(name.decode())
    return names


def settings() -> Dict[str, Setting]:
    """All parameters by name, in the order of the manual."""
    found: Dict[str, Setting] = {}
    each_function: Any

    def each(_context: None, pointer: Any) -> int:
        p = pointer.contents
        choices = tuple(p.choices.decode().split("|")) if p.choices else ()
        kind = ("int", "real", "bool", "choice")[p.type]
        number = getattr(p, "def")
        default = choices[int(number)] if choices else _TYPES[kind](number)
        name, unit, group, about = (t.decode() for t in (p.name, p.unit, p.group, p.help))
        found[name] = Setting(name, kind, unit, group, about, choices, bool(p.at_open), p.min,
                              p.max, p.step, default)
        return 0

    each_function = _c.EachFunction(each)
    _interruptible(lambda: int(lib.parameters(each_function, None)))  # Ctrl-C leaves none out
    return found


_TYPES: Dict[str, Callable[[Any], Value]] = {"int": int, "real": float, "bool": bool, "choice": str}


class _Settings:
    """A struct livestereo_settings."""

    def __init__(self, preset: str, values: Dict[str, Any]) -> None:
        self.pointer = c_void_p()
        self.close = functools.partial(lib.settings_close, byref(self.pointer))
        check(lib.settings_open(byref(self.pointer), text(preset)))
        for name, value in values.items():
            if name == "weights":
                file = b"" if isinstance(value, str) else bytes(value)
                if not file:
                    raise ValueError("weights: there are no bytes")
                self.check(lib.settings_set_weights(self.pointer, file, len(file)))
                continue
            word = str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)
            self.check(lib.settings_set(self.pointer, text(name), text(word)))

    def check(self, code: int) -> None:
        if code:
            raise Error(code, lib.settings_error(self.pointer).decode())

    def get(self) -> Dict[str, Value]:
        values: Dict[str, Value] = {}
        buffer = create_string_buffer(64)
        for name, setting in settings().items():
            self.check(lib.settings_get(self.pointer, name.encode(), buffer, len(buffer)))
            word = buffer.value.decode()
            values[name] = word == "true" if setting.type == "bool" else _TYPES[setting.type](word)
        return values

    def __del__(self) -> None:
        self.close()


def load_rig(path: Union[Path, Sequence[Path]], width: int = 0, height: int = 0,
             unit: Union[float, str] = 0) -> Rig:
    """Reads a calibration of OpenCV (YAML), ROS, KITTI, Middlebury, Kalibr or
    ZED: one file, or the left camera's and the right one's. width, height: of the pictures
    in px; 0: as the file has it. unit: of lengths, for files that do not say it: "m", "cm",
    "mm", or metres per unit."""
    metres = {"m": 1.0, "cm": 0.01, "mm": 0.001}.get(unit) if isinstance(unit, str) else unit
    if metres is None:
        raise ValueError(f'unit: "m", "cm", "mm" or metres per unit are needed, not "{unit}"')
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    names = (c_char_p * len(paths))(*map(text, paths))
    rig = Rig()
    check(lib.rig_read(byref(rig), names, len(paths), width, height, metres))
    return rig


# ---- matching


class Info(NamedTuple):
    """The facts about a Matcher."""
    backend: str  # "cpu (avx2, 2 threads)", "cuda (NVIDIA H200)"
    width: int  # of the maps, px
    height: int
    labels: int  # per pixel
    is_resampled: Tuple[bool, bool]  # left, right; of rectified pictures neither is
    gpu_lost: bool  # a GPU was lost, and the CPU computes since
    memory: int  # bytes that frames take on the device
    geometry: Optional[Geometry]  # None without a calibration
    on_gpu: bool
    min_disparity: int  # px, of the first label
    valid: Tuple[int, int, int, int]
    """x, y, width, height of the largest part of the maps in which each pixel shows something of
    the left picture; pixels that do not are unknown."""
    rotation: np.ndarray[Any, Any]
    """float64 (2, 3, 3): from each camera's frame to the rectified one; 0 without a rig."""


class Probe(NamedTuple):
    """A frame's numbers at one pixel. Label l is the disparity u + l px; with mode=motion it is
    the motion u + l % u_count * step, v + l // u_count * step px."""
    label: int  # the label chosen
    u: float
    v: float
    step: float
    u_count: int
    cost: np.ndarray[Any, Any]  # float64 (labels,), in the papers' units; lower is better
    belief: np.ndarray[Any, Any]  # likewise


_STAGES: List[str] = []
while (_stage := lib.stage_name(len(_STAGES))) is not None:
    _STAGES.append(_stage.decode())


class _Lock:
    """threading.Lock, which a forked process finds open, whoever held it at the fork."""

    def __init__(self) -> None:
        self._lock, self._process = threading.Lock(), os.getpid()

    def __call__(self) -> threading.Lock:
        """For a with block, which Ctrl-C cannot part from a lock of Python's own."""
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
        return self._lock

    def locked(self) -> bool:
        return self._lock.locked()


class _Pair:
    """A pair that has been started, with the memory that it uses."""

    def __init__(self, frame: _c.Frame, result: Result, pictures: Sequence[Any]) -> None:
        self.frame, self.result, self.pictures = frame, result, pictures
        self.is_kept = False  # somebody will wait for it: Ctrl-C did not end its start
        self.is_done, self.error = False, None  # type: bool, Optional[Error]


class _Handle:
    """A struct livestereo. lock: of who calls it."""

    def __init__(self, options: _c.Options, settings: _Settings) -> None:
        self.pointer = c_void_p()
        self.lock = _Lock()
        self._pairs: List[_Pair] = []  # the oldest first
        self._close = functools.partial(lib.close, byref(self.pointer))
        check(lib.open(byref(self.pointer), settings.pointer, byref(options)))

    def check(self, code: int) -> None:
        check(code, self.pointer)

    def info(self) -> Info:
        raw = _c.Info()
        with self.lock():
            self.check(lib.get_info(self.pointer, byref(raw)))
            return Info(raw.backend.decode(), raw.width, raw.height, raw.labels,
                        (bool(raw.is_resampled[0]), bool(raw.is_resampled[1])), bool(raw.gpu_lost),
                        raw.memory, Geometry.from_buffer_copy(raw.geometry)
                        if raw.has_geometry else None, bool(raw.kind), raw.min_disparity,
                        (raw.valid_x, raw.valid_y, raw.valid_width, raw.valid_height),
                        np.array(raw.rotation))

    def _start(self, pair: _Pair) -> None:
        self._pairs.append(pair)
        try:
            self.check(lib.start(self.pointer, byref(pair.frame)))
        except Error:
            self._pairs.remove(pair)
            raise

    def start(self, pair: _Pair) -> None:
        with self.lock():
            self._start(pair)

    def compute(self, pair: _Pair) -> Result:
        with self.lock():
            self._start(pair)
            self._finish(math.inf)
            return self.take()

    def started(self) -> int:
        return sum(pair.is_kept for pair in self._pairs)

    def _finish(self, timeout_ms: float) -> None:
        """With the lock, the oldest pair. However often Ctrl-C ends who waits for that, it is done
        once."""
        pair, times = self._pairs[0], _c.Result()
        if pair.is_done:
            return
        code = lib.wait_for(self.pointer, timeout_ms, byref(times))
        if code == -errno.ETIMEDOUT:
            raise TimeoutError("the frame is not done yet")
        if code:
            pair.error = Error(code, lib.error(self.pointer).decode())
        pair.result.ms, pair.result.stage_ms = times.ms, dict(zip(_STAGES, times.stage_ms))
        pair.is_done = True

    def finish(self, timeout_ms: float) -> None:
        """The oldest pair that is kept."""
        with self.lock():
            while self._pairs and not self._pairs[0].is_kept:
                self._finish(math.inf)
                self._pairs.pop(0)
            if self._pairs:  # one that Ctrl-C has left may come late
                self._finish(timeout_ms)

    def take(self) -> Result:
        """The result that finish() has finished."""
        pair = self._pairs.pop(0)
        if pair.error:
            raise pair.error
        return pair.result

    def drop(self) -> None:
        """All pairs: those whose start, or call, was interrupted."""
        with self.lock():
            while self._pairs:
                self._finish(math.inf)
                self._pairs.pop(0)

    def close(self) -> None:
        self.drop()
        with self.lock():
            self._close()

    def __del__(self) -> None:
        self._close()  # which waits for a frame in flight, before its memory goes


class Result:
    """The maps of one pair. They stay valid when the Matcher is gone."""

    disparity: Optional[Array]
    """int16 (H, W), left column minus right column in 1/16 px, or UNKNOWN; None with
    mode=motion."""
    confidence: Array
    """uint8 (H, W): with confidence=chance the probability, of 255, that the disparity is off by at
    most 1 px."""
    motion: Optional[Array]
    """int16 (2, H, W): u to the right and v down in 1/16 px; u is UNKNOWN where it is not known.
    None without mode=motion."""
    ms: float
    """Time from the start to the end of the frame."""
    stage_ms: Dict[str, float]
    """Times of its parts."""

    def __init__(self, info: Info, format: int, bgr: bool, motion: bool, right: bool,
                 maps: Maps) -> None:
        size, grey = (info.height, info.width), format == Format.GRAY8
        self._geometry, self._bgr = info.geometry, bgr and not grey
        self._format = Format.GRAY8 if grey else Format.RGB8
        picture = np.uint8, size if grey else (*size, 3)
        numbers = np.int16, (2, *size) if motion else size
        *self._rectified, self.confidence, found = maps.take(
            [picture] * (1 + right) + [(np.uint8, size), numbers])
        self.disparity, self.motion = (None, found) if motion else (found, None)

    def _name_maps(self, frame: _c.Frame) -> None:
        for side, picture in enumerate(self._rectified):
            frame.rectified[side] = map_image(picture, self._format)
        frame.confidence = map_image(self.confidence, Format.CONF8)
        if self.disparity is not None:
            frame.disparity = map_image(self.disparity, Format.DISP16)
        if self.motion is not None:
            frame.motion = map_image(self.motion, Format.FLOW16)

    def _picture(self, side: int) -> Array:
        picture: Array = self._rectified[side]
        return np.ascontiguousarray(picture[..., ::-1]) if self._bgr else picture

    @property
    def left(self) -> Array:
        """The rectified left picture, uint8 (H, W) or (H, W, 3), red first unless the Matcher has
        bgr."""
        return self._picture(0)

    @property
    def right(self) -> Optional[Array]:
        """The rectified right picture likewise; None unless the Matcher has right=True."""
        return self._picture(1) if len(self._rectified) > 1 else None

    @functools.cached_property
    def px(self) -> np.ndarray[Any, Any]:
        """The map in px, NaN where it is not known: float32 (H, W) of disparities, (H, W, 2) of
        motions (u, v)."""
        if self.motion is None:
            raw = np.asarray(self.disparity)
            return np.where(raw == UNKNOWN, np.float32(np.nan), raw / np.float32(16))
        u, v = self.motion
        return np.where((u == UNKNOWN)[..., None], np.float32(np.nan),
                        np.dstack((u, v)) / np.float32(16))

    @functools.cached_property
    def depth(self) -> np.ndarray[Any, Any]:
        """float32 (H, W), metres; NaN: unknown, inf: infinitely far. Of disparity as it is when
        this is first asked for. Error without a calibration in metres."""
        geometry, disparity = self._measured()
        depth = np.empty(disparity.shape, np.float32)
        check(lib.depth(byref(geometry), byref(map_image(disparity, Format.DISP16)),
                        byref(map_image(depth, Format.M32F))))
        return depth

    @functools.cached_property
    def points(self) -> np.ndarray[Any, Any]:
        """float32 (N, 6), row by row: x to the right, y down, z forward in metres, and red, green,
        blue 0 to 255. Error without a calibration in metres."""
        geometry, disparity = self._measured()
        count = c_size_t()
        points = np.empty((disparity.size, 6), np.float32)
        check(lib.points(byref(geometry), byref(map_image(disparity, Format.DISP16)),
                         byref(map_image(self._rectified[0], self._format)), 0,
                         points.ctypes.data, len(points), byref(count)))
        return points[:count.value].copy()

    def _measured(self) -> Tuple[Geometry, np.ndarray[Any, Any]]:
        """Checks an array that has been put in place of disparity: it must be such a map, too."""
        if self.disparity is None:
            raise Error(errno.ENOTSUP, "with mode=motion there is no depth")
        if self._geometry is None:
            raise Error(errno.ENOTSUP, "depth needs a calibration")
        given = np.asarray(self.disparity)
        disparity = np.ascontiguousarray(given, np.int16)
        if given.shape != self.confidence.shape or not np.array_equal(given, disparity):
            raise ValueError(f"disparity: int16 of shape {self.confidence.shape} is needed, in "
                             f"1/16 px, not {given.dtype} of shape {given.shape}")
        return self._geometry, disparity


def _log(_context: None, level: int, message: bytes) -> None:
    if level == _c.WARNING:  # what is an error is raised
        logging.getLogger("livestereo").warning("%s", message.decode())


_pass_message = _c.LogFunction(_log)


def _interruptible(work: Callable[[], T]) -> T:
    """Does work in another thread, since Ctrl-C reaches Python's main thread only between its
    instructions. A frame that was interrupted is computed to its end all the same: the next use of
    its handle waits for that, and the end of the program does not."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result()


class Matcher:
    """Computes pairs of pictures of width x height px.

    preset: where the settings start from, one of presets(). calibration: the path of a calibration,
    a pair of paths, left and right, or a Rig; without it the pictures are rectified, and there are
    no depths. unit: of its lengths, where it does not say it, as in load_rig(). alpha: of rectified
    pictures, 0 shows valid pixels only, 1 all pixels. bgr: pictures have blue first, as OpenCV's.
    sequence: pairs follow one another, so that temporal_mode="auto" averages their maps; forget()
    begins anew after a cut.
    Further keywords are parameters: see settings(); weights are the bytes of a file for
    descriptor="learned". right: results have the rectified right picture, too. close(), or
    the end of a with block, frees its memory at once.

    It is opened for pictures in colour; the first grey pair opens it anew. Errors of the library
    are Error, pictures of a wrong shape or type ValueError. Messages go to the logger
    "livestereo"."""

    def __init__(self, width: int, height: int, *, preset: str = "default",
                 calibration: Union[None, Path, Sequence[Path], Rig] = None,
                 unit: Union[float, str] = 0,
                 alpha: float = 0, bgr: bool = False, right: bool = False,
                 sequence: bool = False, **settings: Any) -> None:
        if not (calibration is None or isinstance(calibration, Rig)):
            calibration = load_rig(calibration, width, height, unit)
        self._size, self._bgr, self._alpha, self._rig = (height, width), bgr, alpha, calibration
        self._preset, self._values, self._sequence = preset, settings, sequence
        self._settings = _Settings(preset, settings)
        self._motion = self.settings["mode"] == "motion"
        self._number, self._turn, self._right = 0, _Lock(), right
        self._maps = Maps()
        self._open(Format.BGR8 if bgr else Format.RGB8)

    def _open(self, format: int) -> None:
        options = _c.Options(width=self._size[1], height=self._size[0], format=format,
                             rig=self._rig and POINTER(Rig)(self._rig), alpha=self._alpha,
                             log=_pass_message, log_level=_c.WARNING,
                             sequence=int(bool(self._sequence)))
        handle = _Handle(options, self._settings)
        opened = handle.info()
        self._open_handle: Optional[_Handle] = handle
        self._format, self._opened = format, opened

    @property
    def _handle(self) -> _Handle:
        if self._open_handle is None:
            raise ValueError("the matcher is closed")
        return self._open_handle

    def close(self) -> None:
        """Frees its memory; results stay. Frames in flight are lost."""
        with self._turn():
            handle, self._open_handle = self._open_handle, None
            self._maps = Maps()
            if handle:
                handle.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Matcher cannot be pickled; make one in each process")

    def __enter__(self) -> Matcher:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def _pair(self, left: Any, right: Any) -> _Pair:
        """With the turn."""
        one, *keep_one = picture_image("left", left, self._size, self._bgr)
        two, *keep_two = picture_image("right", right, self._size, self._bgr)
        if one.format != two.format:
            raise ValueError("left and right must both be grey or both in colour")
        if not self._handle.started():
            self._handle.drop()
        if one.format != self._format:
            if self._handle.started():
                raise ValueError("pictures of another format have been started; wait() for them")
            self._open(one.format)
        result = Result(self._opened, one.format, self._bgr, self._motion, self._right, self._maps)
        frame = _c.Frame(left=one, right=two, number=self._number)
        result._name_maps(frame)
        self._number += 1
        return _Pair(frame, result, keep_one + keep_two)

    def _do(self, work: Callable[[], T]) -> T:
        return work() if self._opened.on_gpu else _interruptible(work)

    def __call__(self, left: Any, right: Any) -> Result:
        """The maps of a pair, left and right picture, or with mode=motion the earlier and the later
        one."""
        with self._turn():
            if self._handle.started():
                raise ValueError("pairs have been started; wait() for them first")
            pair = self._pair(left, right)
            return self._do(functools.partial(self._handle.compute, pair))

    def start(self, left: Any, right: Any) -> None:
        """Begins a pair, as __call__ takes it; a GPU computes while this returns. wait() has the
        result. Its pictures must not change before. Error, errno EBUSY: as many as possible have
        been started."""
        with self._turn():
            pair = self._pair(left, right)
            self._do(functools.partial(self._handle.start, pair))
            pair.is_kept = True

    def wait(self, timeout: Optional[float] = None) -> Result:
        """The result of the oldest pair that was started. timeout: TimeoutError after so many
        seconds, and it stays started; 0 only looks."""
        limit = math.inf if timeout is None else 1000 * timeout
        if not limit >= 0:
            raise ValueError(f"timeout: {timeout} is not a time in seconds, 0 or more")
        with self._turn():
            if not self._handle.started():
                raise ValueError("no pair has been started")
            self._do(functools.partial(self._handle.finish, limit))
            return self._handle.take()

    @property
    def info(self) -> Info:
        """The facts about it now."""
        return self._handle.info()

    @property
    def settings(self) -> Dict[str, Value]:
        """The values of all parameters."""
        return self._settings.get()

    def update(self, **settings: Any) -> None:
        """Sets parameters for the pairs to come. Those that are at_open stay as they are. With an
        error nothing changes."""
        values = {**self._values, **settings}
        changed = _Settings(self._preset, values)
        with self._handle.lock():
            self._handle.check(lib.update(self._handle.pointer, changed.pointer))
        self._settings, self._values = changed, values

    def forget(self) -> None:
        """Makes the next pair independent of earlier ones, as after a cut."""
        with self._handle.lock():
            self._handle.check(lib.forget(self._handle.pointer))

    def probe(self, x: int, y: int) -> Probe:
        """Gives the numbers of the last pair at column x, row y of the maps."""
        raw = _c.Probe()
        with self._handle.lock():
            self._handle.check(lib.get_probe(self._handle.pointer, x, y, byref(raw)))
        return Probe(raw.label, raw.u, raw.v, raw.step, raw.u_count,
                     np.array(raw.cost[:raw.labels]), np.array(raw.belief[:raw.labels]))

    def energy(self) -> float:
        """The energy of the last pair's labels before refinement, in the papers' units."""
        energy = c_double()
        with self._handle.lock():
            self._handle.check(lib.energy(self._handle.pointer, byref(energy)))
        return energy.value


def flow(earlier: Any, later: Any, *, preset: str = "flow", bgr: bool = False,
         **settings: Any) -> np.ndarray[Any, Any]:
    """Optical flow from one picture of a camera to the next: float32 (H, W, 2), u to the right and
    v down in px, NaN where it is not known. For many pictures, one
    Matcher(width, height, preset="flow") is faster."""
    height, width = earlier.shape[:2]
    return Matcher(width, height, preset=preset, bgr=bgr, **settings)(earlier, later).px


# ---- a labelling problem of the caller's own


class Solution(NamedTuple):
    """Labels of low energy, and what is known of them."""
    label: np.ndarray[Any, Any]  # uint16 (H, W)
    energy: float
    bound: float  # no labels have less energy
    sweeps: int  # done


_NUMBERS = [np.dtype(n) for n in (np.uint8, np.uint16, np.float32)]
_SMOOTHNESS = ["linear", "quadratic", "potts"]


def _number_of(name: str, word: str, words: List[str]) -> int:
    if word not in words:
        raise ValueError(f"{name} {word!r} is none of {', '.join(words)}")
    return words.index(word)


def _weights(name: str, given: Any, size: Tuple[int, ...]) -> Optional[np.ndarray[Any, Any]]:
    if given is None:
        return None
    weights = np.asarray(given)
    if weights.shape != size or weights.dtype != np.uint8:
        raise ValueError(f"{name} must be uint8 {size}, not {weights.dtype} {weights.shape}")
    return np.ascontiguousarray(weights)


def solve(cost: Any, *, smoothness: Any = "linear", lambda_: float = 1, truncation: float = 0,
          right: Any = None, down: Any = None, sweeps: int = 100) -> Solution:
    """Finds labels of low energy by TRW-S: at each pixel each label has a cost, and neighbours'
    labels that differ cost something, too.

    cost: (H, W, labels), 2 to 512 labels; uint8, uint16 and float32 in any order of the axes are
    used where they are, other numbers are copied to float32. smoothness: of labels l and m
    "linear", min(lambda_ |l - m|, truncation), "quadratic", min(lambda_ (l - m)^2, truncation),
    "potts", lambda_ where they differ, or a table (labels, labels), times lambda_; truncation 0 is
    none. right, down: uint8 (H, W), weights of the edges to the right and the lower neighbour.
    sweeps: at most so many, over all pixels forwards and backwards."""
    costs = np.asarray(cost)
    if costs.ndim != 3 or costs.size == 0:
        raise ValueError(f"cost must have the shape (H, W, labels), not {costs.shape}")
    if costs.dtype not in _NUMBERS or any(s % costs.itemsize for s in costs.strides):
        costs = costs.astype(np.float32)
    height, width, labels = costs.shape
    edges = [_weights(name, w, (height, width)) for name, w in (("right", right), ("down", down))]
    table: Any = None
    if not isinstance(smoothness, str):
        table = np.ascontiguousarray(smoothness, np.float32)
        if table.shape != (labels, labels):
            raise ValueError(f"smoothness must have the shape {(labels, labels)}, not "
                             f"{table.shape}")
    interrupted = threading.Event()
    each = _c.SweepFunction(lambda _context, _sweep, _energy, _bound: interrupted.is_set())
    problem = _c.Problem(
        width=width, height=height, labels=labels, number=_NUMBERS.index(costs.dtype),
        cost=costs.ctypes.data, row_bytes=costs.strides[0], pixel_bytes=costs.strides[1],
        label_bytes=costs.strides[2], truncation=truncation,
        smoothness=len(_SMOOTHNESS) if table is not None else
        _number_of("smoothness", smoothness, _SMOOTHNESS),
        table=None if table is None else table.ctypes.data,
        right=None if edges[0] is None else edges[0].ctypes.data,
        down=None if edges[1] is None else edges[1].ctypes.data,
        sweeps=sweeps, after_sweep=each, **{"lambda": lambda_})
    label = np.empty((height, width), np.uint16)
    found = _c.Solution(label=label.ctypes.data)

    def work(_keep: Any = (costs, table, edges, each, label)) -> None:
        check(lib.solve(byref(problem), byref(found)))

    try:
        _interruptible(work)
    finally:
        interrupted.set()
    return Solution(label, found.energy, found.bound, found.sweeps)
