"""Pictures and maps in memory of others. What needs a GPU runs with a stand-in: its memory is the
host's, and the library is told so behind the package's back.
SPDX-License-Identifier: MIT
"""
import ctypes
import errno
import gc
import logging
import weakref

import livestereo as ls
import numpy as np
import pytest
from livestereo import _library, _memory

SIZE = 64, 96  # H, W


def address_of(picture):
    image, _ = _memory.picture_image("left", picture, SIZE, False, 0, 0)
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
    """Memory with __dlpack__ alone. stream: what it was asked for."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.stream = array, device, "none"

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.stream = stream
        return self.array.__dlpack__()


class OnDevice:
    """Memory with __cuda_array_interface__, which is the host's."""

    def __init__(self, array, **more):
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "version": 3,
            "data": (array.ctypes.data, True), **more}
        self.array = array


@pytest.mark.parametrize("kind", [Interface, Exchanged, memoryview])
def test_host_memory_of_others(kind, dots):
    left, right = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live")
    expected = m(left, right).disparity
    assert address_of(kind(left)) == (left.ctypes.data, 288)
    assert np.array_equal(m(kind(left), kind(right)).disparity, expected)


def test_a_borrowed_tensor_is_given_back(dots):
    picture, _ = dots(96, 64)
    gone = weakref.ref(picture)
    image, owner = _memory.picture_image("left", Exchanged(picture, (2, 0)), SIZE, False, 7, 0)
    assert (image.data, image.row_bytes) == (picture.ctypes.data, 288)
    assert (image.memory, image.format) == (_library.CUDA, _library.Format.RGB8)
    del picture
    gc.collect()
    assert gone() is not None
    del owner
    gc.collect()
    assert gone() is None


def test_tensors_with_strides(dots):
    wide = np.zeros((64, 200, 3), np.uint8)
    view = _memory.view(Exchanged(wide[:, 50:146], (2, 0)), 0, 0)
    assert (view.data, view.shape, view.strides) == (wide.ctypes.data + 150, (64, 96, 3),
                                                     (600, 3, 1))
    for picture in (Exchanged(wide[:, ::2][:, :96], (2, 0)),
                    OnDevice(wide[:, :96], strides=(600, 6, 1))):
        with pytest.raises(ValueError, match="on the GPU pixels must lie side by side"):
            address_of(picture)
    with pytest.raises(ValueError, match="left: uint8 of .* not int16 of shape"):
        address_of(Exchanged(np.zeros(SIZE, np.int16), (2, 0)))
    with pytest.raises(ValueError, match="left: uint8 of .* not float32 of shape"):
        address_of(OnDevice(np.zeros(SIZE, np.float32)))


def test_without_a_driver(dots, monkeypatch):
    def missing(name):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    _memory._driver.cache_clear()
    m = ls.Matcher(96, 64, preset="live")
    with pytest.raises(ls.Error, match="needs NVIDIA's driver: libcuda.so.1") as caught:
        m(*map(OnDevice, dots(96, 64)))
    assert caught.value.errno == errno.ENODEV


class Driver:
    """Stands in for CUDA's driver. calls: the functions called. allocated: memory."""

    def __init__(self):
        self.calls, self.allocated = [], {}

    def __call__(self, name, *arguments):
        self.calls.append((name, arguments[-1] if arguments else None))
        getattr(self, name, lambda *_: None)(*arguments)

    def cuMemAlloc_v2(self, result, size):
        memory = np.empty(size.value, np.uint8)
        self.allocated[memory.ctypes.data] = memory
        result._obj.value = memory.ctypes.data

    def cuMemcpyDtoH_v2(self, to, source, size):
        ctypes.memmove(to, source.value, size.value)

    def cuMemFree_v2(self, pointer):
        del self.allocated[pointer.value]


@pytest.fixture
def gpu(monkeypatch):
    """A Driver, with frames, copies of those that the library was given, and its real start."""
    driver = Driver()
    driver.frames, driver.start = [], ls.lib.start

    def start_on_host(handle, reference):
        frame = reference._obj
        driver.frames.append(_library.Frame.from_buffer_copy(frame))
        for image in (frame.left, frame.right, frame.disparity, frame.confidence, frame.motion,
                      *frame.rectified):
            assert not image.data or image.memory == _library.CUDA
            image.memory = _library.HOST
        return driver.start(handle, reference)

    monkeypatch.setattr(_memory, "cuda", driver)
    monkeypatch.setattr(ls.lib, "start", start_on_host)
    _memory._primary_context.cache_clear()
    yield driver
    _memory._primary_context.cache_clear()


def test_a_frame_on_a_gpu(gpu, dots, monkeypatch):
    left, right = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live", gpu=3)
    result = m(OnDevice(left), OnDevice(right))
    frame, = gpu.frames
    assert frame.left.data == left.ctypes.data and frame.right.data == right.ctypes.data
    assert frame.left.row_bytes == 288 and frame.stream is None
    for array, image, dtype, shape in (
            (result.disparity, frame.disparity, np.int16, SIZE),
            (result.confidence, frame.confidence, np.uint8, SIZE),
            (result.left, frame.rectified[0], np.uint8, (*SIZE, 3))):
        assert isinstance(array, ls.DeviceArray) and array.dtype == dtype
        assert array.shape == shape and array.data == image.data in gpu.allocated
        assert image.row_bytes == int(np.prod(shape[1:])) * array.dtype.itemsize
        assert array.__cuda_array_interface__ == {
            "shape": shape, "typestr": np.dtype(dtype).str, "data": (image.data, False),
            "strides": None, "stream": None, "version": 3}
        assert array.__dlpack_device__() == (2, 3)
    # The same bytes as on the host; numpy.asarray() copies them.
    monkeypatch.setattr(ls.lib, "start", gpu.start)
    expected = ls.Matcher(96, 64, preset="live")(left, right)
    for name in ("disparity", "confidence", "left"):
        assert np.array_equal(np.asarray(getattr(result, name)), getattr(expected, name))
    assert np.array_equal(result.px, expected.px, equal_nan=True)
    assert len(gpu.allocated) == 3
    del result, array
    m.close()
    gc.collect()
    assert not gpu.allocated
    names = [name for name, _ in gpu.calls]
    assert names.count("cuCtxPushCurrent_v2") == names.count("cuCtxPopCurrent_v2") > 0


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


def test_maps_on_a_gpu_are_used_again(gpu, dots):
    pair = tuple(map(OnDevice, dots(96, 64)))
    m = ls.Matcher(96, 64, preset="live", gpu=3)
    first = m(*pair)
    m(*pair)
    assert len(gpu.allocated) == 6 and "cuCtxSynchronize" not in dict(gpu.calls)
    m(*pair)  # when no work reads the second result's any longer
    assert len(gpu.allocated) == 6 and [n for n, _ in gpu.calls].count("cuCtxSynchronize") == 1
    assert first.disparity.data in gpu.allocated


def test_streams(gpu, dots):
    left, right = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live", gpu=3)

    def waited():
        found = [a.value for name, a in gpu.calls if name == "cuStreamSynchronize"]
        gpu.calls.clear()
        return found

    m(OnDevice(left, stream=5), OnDevice(right, stream=5))
    assert gpu.frames[-1].stream == 5 and waited() == []
    m(OnDevice(left, stream=None), OnDevice(right, stream=6))
    assert gpu.frames[-1].stream == 6 and waited() == []
    m(OnDevice(left, stream=5), OnDevice(right, stream=6))
    assert gpu.frames[-1].stream == 5 and waited() == [6]
    m(OnDevice(left, stream=5), OnDevice(right, stream=6), stream=9)
    assert gpu.frames[-1].stream == 9 and waited() == [5, 6]
    one, two = Exchanged(left, (2, 3)), Exchanged(right, (2, 3))
    m(one, two)
    assert gpu.frames[-1].stream is None and (one.stream, two.stream) == (1, 1)
    m(one, two, stream=9)
    assert gpu.frames[-1].stream == 9 and (one.stream, two.stream) == (9, 9) and waited() == []
    with pytest.raises(ValueError, match="both on the host or both on a GPU"):
        m(left, one)


def test_memory_of_a_gpu_and_no_gpu(gpu, dots, monkeypatch):
    """The library's own sentence, when it sees the frame as it is."""
    monkeypatch.setattr(ls.lib, "start", gpu.start)
    m = ls.Matcher(96, 64, preset="live", backend="cpu")
    with pytest.raises(ls.Error, match="CUDA memory, and the backend is cpu") as caught:
        m(*map(OnDevice, dots(96, 64)))
    assert caught.value.errno == errno.EINVAL
    del caught
    m.close()
    gc.collect()
    assert not gpu.allocated


class LikeHost:
    """A DeviceArray, said to be on the host, where the stand-in has it."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return self.array.__dlpack__()


def test_maps_are_lent_by_dlpack(gpu, monkeypatch):
    monkeypatch.setattr(_memory, "DL_CUDA", 1)  # in the capsule, for numpy to take it
    for dtype, shape in ((np.int16, (2, 5, 7)), (np.uint8, (5, 7, 3)), (np.float32, (5,))):
        array = ls.DeviceArray(shape, dtype, 0)
        memory = np.frombuffer(gpu.allocated[array.data], dtype).reshape(shape)
        memory[...] = np.arange(memory.size).reshape(shape)
        taken = np.from_dlpack(LikeHost(array))
        assert taken.ctypes.data == array.data
        assert taken.dtype == dtype and np.array_equal(taken, memory)
        capsule = array.__dlpack__(stream=1, max_version=(1, 0), dl_device=None, copy=None)
        assert len(_memory._lent) == 2 and "dltensor" in repr(capsule)
        del capsule  # nobody took it
        assert len(_memory._lent) == 1
        del array, memory
        gc.collect()
        assert len(gpu.allocated) == 1  # numpy still has it
        del taken
        gc.collect()
        assert not gpu.allocated and not _memory._lent


def on_gpu(array):
    """A copy in the memory of the first real GPU."""
    copy = ls.DeviceArray(array.shape, array.dtype, 0)
    with _memory._on(0):
        _memory.cuda("cuMemcpyHtoD_v2", ctypes.c_uint64(copy.data),
                     ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(copy.nbytes))
    return copy


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
        result = cuda_matcher(*map(on_gpu, pair))
        for name in ("disparity", "confidence", "left"):
            assert np.array_equal(np.asarray(getattr(result, name)), getattr(expected, name))


def test_torch(cuda_matcher, dots):
    torch = pytest.importorskip("torch")
    pair = dots(96, 64)
    expected = ls.Matcher(96, 64, preset="live", backend="cpu")(*pair).disparity
    with torch.cuda.stream(torch.cuda.Stream()):
        busy = torch.ones((4096, 4096), device="cuda")
        for _ in range(20):
            left, right = (torch.zeros_like(torch.from_numpy(p), device="cuda") for p in pair)
            busy @ busy  # the pictures are filled after this
            left.copy_(torch.from_numpy(pair[0]))
            right.copy_(torch.from_numpy(pair[1]))
            disparity = torch.from_dlpack(cuda_matcher(left, right).disparity)
            assert disparity.is_cuda and np.array_equal(disparity.cpu().numpy(), expected)


def test_warnings_go_to_the_logger(caplog):
    with caplog.at_level(logging.DEBUG, "livestereo"):
        ls._pass_message(None, 0, b"an error, which is raised")
        ls._pass_message(None, 1, b"the GPU was lost")
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("WARNING",
                                                                        "the GPU was lost")]
