"""The package livestereo against the header, the program, and what its docstrings promise.
SPDX-License-Identifier: MIT
"""
import ctypes
import errno
import gc
import multiprocessing
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import livestereo as ls
import numpy as np
import pytest
from livestereo import _library
from PIL import Image

ROOT = pathlib.Path(__file__).parents[2]
CALIBRATION = ("cam0=[200 0 {cx}; 0 200 {cy}; 0 0 1]\ncam1=[200 0 {cx}; 0 200 {cy}; 0 0 1]\n"
               "baseline=100\nwidth={width}\nheight={height}\n")


@pytest.fixture
def calibration(tmp_path):
    """calibration(width, height): of rectified cameras, 10 cm apart; 10 px are 2 m."""
    def make(width, height):
        path = tmp_path / "calibration.txt"
        path.write_text(CALIBRATION.format(cx=width // 2, cy=height // 2, width=width,
                                           height=height))
        return path
    return make


# ---- against the header


def test_structs_are_those_of_the_header(tmp_path):
    names = {_library.Image: "image", _library.Parameter: "parameter", ls.Camera: "camera",
             ls.Rig: "rig", ls.Geometry: "geometry", _library.Options: "options",
             _library.Frame: "frame", _library.Result: "result", _library.Info: "info",
             _library.Probe: "probe", _library.Problem: "problem", _library.Solution: "solution"}
    lines = ["#include <livestereo.h>"]
    for struct, name in names.items():
        c = f"struct livestereo_{name}"
        lines.append(f'_Static_assert(sizeof({c}) == {ctypes.sizeof(struct)}, "size of {name}");')
        for field, kind in struct._fields_:
            lines.append(f'_Static_assert(offsetof({c}, {field}) == {getattr(struct, field).offset}'
                         f' && sizeof((({c} *)0)->{field}) == {ctypes.sizeof(kind)},'
                         f' "{name}.{field}");')
    for constant in _library.Format:
        lines.append(f'_Static_assert(LIVESTEREO_{constant.name} == {int(constant)},'
                     f' "{constant.name}");')
    for name, value in (("UNKNOWN", ls.UNKNOWN), ("HOST", _library.HOST),
                        ("LOG_WARNING", _library.WARNING), ("DOWNLOAD", len(ls._STAGES) - 1),
                        ("INT", 0), ("REAL", 1), ("BOOL", 2), ("CHOICE", 3)):
        lines.append(f'_Static_assert(LIVESTEREO_{name} == {value}, "{name}");')
    source = tmp_path / "structs.c"
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-fsyntax-only", f"-I{ROOT / 'include'}", source], check=True)


def test_functions_are_those_of_the_header():
    """Each has as many parameters as there."""
    text = (ROOT / "include/livestereo.h").read_text()
    declared = dict(re.findall(r"^LIVESTEREO_API [^(]*?livestereo_(\w+)\((.*?)\);", text,
                               re.MULTILINE | re.DOTALL))
    declared["parameters"] = "each, context"  # a parameter that has parameters
    for name, (_, *arguments) in _library.FUNCTIONS.items():
        parameters = [p for p in declared[name].split(",") if p != "void"]
        assert len(arguments) == len(parameters), name


def test_it_says_that_it_has_types():
    assert pathlib.Path(ls.__file__).with_name("py.typed").exists()


# ---- against the program


CROPS = {"tsukuba": (120, 140), "venus": (150, 120), "cones": (200, 180)}  # left, top
SIZE = 144, 96  # px


@pytest.fixture(scope="session")
def pairs(data, tmp_path_factory):
    """Folders with left.png and right.png, 144 x 96 px of three known pairs."""
    folders = []
    for name, (x, y) in CROPS.items():
        folder = tmp_path_factory.mktemp("pairs") / name
        folder.mkdir()
        for side in ("left.png", "right.png"):
            with Image.open(data / "middlebury" / name / side) as picture:
                picture.crop((x, y, x + SIZE[0], y + SIZE[1])).save(folder / side)
        folders.append(folder)
    return folders


def read(folder):
    return [np.asarray(Image.open(folder / side)) for side in ("left.png", "right.png")]


STEREO = [name for name in ls.presets() if ls.Matcher(*SIZE, preset=name).settings["mode"]
          == "stereo"]


@pytest.mark.parametrize("preset", STEREO)
def test_bytes_are_those_of_batch(preset, pairs, program, tmp_path):
    m = ls.Matcher(*SIZE, preset=preset, backend="cpu", threads=1)
    for folder in pairs:
        subprocess.run([program, "batch", "-q", folder, "-o", tmp_path / folder.name, "--preset",
                        preset, "--save", "disp16", "--set", "backend=cpu", "--set", "threads=1"],
                       check=True)
        m.forget()
        disparity = m(*read(folder)).disparity.astype(np.int32)
        known = disparity != ls.UNKNOWN
        expected = np.where(known, np.clip(disparity * 16, 1, 65535), 0)  # KITTI's form
        written, = (tmp_path / folder.name).glob("*_disp16.png")
        assert known.mean() > 0.5
        assert np.array_equal(np.asarray(Image.open(written)), expected)


def test_a_sequence_is_averaged(pairs):
    def last(m, *, forget=False):
        for i in range(3):
            noise = np.random.default_rng(i).integers(0, 4, left.shape, np.uint8)
            if forget:
                m.forget()
            disparity = m(left - noise, right - noise[::-1]).disparity
        return disparity

    left, right = (np.maximum(picture, 3) for picture in read(pairs[0]))
    on, off, auto, alone = (
        ls.Matcher(*SIZE, preset="live", backend="cpu", **more)
        for more in ({"temporal_mode": "on"}, {}, {"sequence": True}, {"sequence": True}))
    off = last(off)
    assert not np.array_equal(off, last(on))
    on.forget()
    assert np.array_equal(last(auto), last(on))
    assert np.array_equal(last(alone, forget=True), off)


def test_motion_is_that_of_batch(pairs, program, tmp_path):
    sequence = tmp_path / "sequence"
    sequence.mkdir()
    earlier, later = read(pairs[0])
    for index, picture in enumerate((earlier, later)):
        Image.fromarray(picture).save(sequence / f"{index:06d}.png")
    subprocess.run([program, "batch", "-q", "--preset", "flow", sequence, "-o", tmp_path / "out",
                    "--save", "flo", "--set", "backend=cpu"], check=True)
    written, = (tmp_path / "out").glob("*.flo")
    expected = np.fromfile(written, np.float32, offset=12).reshape(SIZE[1], SIZE[0], 2)
    motion = ls.flow(earlier, later, backend="cpu")
    assert np.isfinite(motion).mean() > 0.5
    assert np.array_equal(np.where(np.isnan(motion), np.float32(1e10), motion), expected)


def test_depths_are_the_same_four_ways(pairs, program, calibration, tmp_path):
    """In mm, of the program, of examples/pair.c, of this package, of docs/LIBRARY.md's pipeline."""
    readme = (ROOT / "docs/LIBRARY.md").read_text()
    library = pathlib.Path(os.environ["LIBRARY"])
    pipeline = re.search("^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)[1]
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "livestereo", "libpng"], check=True,
                           text=True, stdout=subprocess.PIPE).stdout.split()
    subprocess.run(["gcc", ROOT / "examples/pair.c", "-o", tmp_path / "pair", *flags,
                    f"-Wl,-rpath,{library}"], check=True)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/gst").symlink_to(library / "gstreamer-1.0")
    (tmp_path / "build/liblivestereo.so.0").symlink_to(library / "liblivestereo.so.0")
    m = ls.Matcher(*SIZE, calibration=calibration(*SIZE))
    for folder in pairs:
        left, right = sides = folder / "left.png", folder / "right.png"
        examples = tmp_path / "examples"
        examples.unlink(missing_ok=True)
        examples.symlink_to(folder)
        (folder / "calibration.txt").write_text((tmp_path / "calibration.txt").read_text())
        subprocess.run([program, "batch", "-q", *sides, "-o", tmp_path / folder.name, "--save",
                        "depth16", "--calib", folder / "calibration.txt"], check=True)
        written, = (tmp_path / folder.name).glob("*_depth16.png")
        subprocess.run([tmp_path / "pair", left, right, folder / "calibration.txt",
                        tmp_path / "pair.png"], check=True)
        subprocess.run(pipeline.replace("disparity-range=48", ""), shell=True, cwd=tmp_path,
                       check=True, stdout=subprocess.DEVNULL)
        depth = np.rint(1000 * np.nan_to_num(m(*read(folder)).depth.astype(float), posinf=0))
        assert np.mean(depth > 0) > 0.5
        for path in (written, tmp_path / "pair.png", tmp_path / "depth.png"):
            assert np.array_equal(np.asarray(Image.open(path)), np.where(depth > 65535, 0, depth))


# ---- results


def test_disparity_depth_and_points(dots, calibration):
    left, right = dots(160, 90)
    m = ls.Matcher(160, 90, preset="live", calibration=calibration(160, 90), disparity_range=32,
                   backend="cpu")
    r = m(left, right)
    assert r.disparity.dtype == np.int16 and r.disparity.shape == (90, 160)
    assert r.confidence.dtype == np.uint8 and r.confidence.shape == (90, 160)
    assert np.array_equal(np.isnan(r.px), r.disparity == ls.UNKNOWN)
    assert np.array_equal(r.px[r.disparity != ls.UNKNOWN] * 16, r.disparity[r.disparity
                                                                            != ls.UNKNOWN])
    assert np.mean(np.abs(r.px - 10) < 0.5) > 0.9
    assert np.array_equal(r.left, left)
    assert r.depth.dtype == np.float32 and abs(np.nanmedian(r.depth) - 2) < 0.01
    # Points are the pixels whose depth is finite, in order, with the colours of the left picture.
    known = np.isfinite(r.depth)
    assert r.points.shape == (known.sum(), 6)
    assert np.array_equal(r.points[:, 2], r.depth[known])
    assert np.array_equal(r.points[:, 3:], left[known])
    x = np.broadcast_to(np.arange(160), (90, 160))[known]
    assert np.allclose(r.points[:, 0], (x - 80) * r.depth[known] / 200, atol=1e-5)
    assert r.ms > 0 and r.stage_ms["bp"] > 0
    assert m.info.width == 160 and m.info.labels == 32 and m.info.geometry.fx == 200
    assert m.info.is_resampled == (False, False) and m.info.backend.startswith("cpu")


def test_calibrations(dots, calibration, tmp_path):
    path = calibration(160, 90)
    rig = ls.load_rig(path)
    assert np.array(rig.R).tolist() == np.eye(3).tolist() and np.array(rig.T)[0] == -0.1
    assert rig.metric == 1 and rig.rectified == 1 and "fx=200.0" in repr(rig)
    pair = dots(160, 90)
    by_path = ls.Matcher(160, 90, preset="live", calibration=str(path))(*pair)
    by_rig = ls.Matcher(160, 90, preset="live", calibration=rig)(*pair)
    assert by_path.depth.tobytes() == by_rig.depth.tobytes()
    rig.rectified = rig.has_rectification = 0
    rig.camera[1].cy += 3  # the right picture is shifted, so that the library resamples
    m = ls.Matcher(160, 90, preset="live", calibration=rig)
    assert m.info.is_resampled == (True, True)
    with pytest.raises(ls.Error, match="nowhere"):
        ls.load_rig(tmp_path / "nowhere.yml")
    path.write_text("K1: [200, 0, 80, 0, 200, 45, 0, 0, 1]\nD1: [0, 0, 0, 0, 0]\n"
                    "K2: [200, 0, 80, 0, 200, 45, 0, 0, 1]\nD2: [0, 0, 0, 0, 0]\n"
                    "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-120, 0, 0]\n")
    for unit in ("mm", 0.001):
        assert ls.Matcher(160, 90, calibration=path, unit=unit).info.geometry.baseline == 0.12
    with pytest.raises(ValueError, match="inch"):
        ls.load_rig(path, unit="inch")


def test_bgr(dots):
    left, right = dots(96, 64)
    rgb = ls.Matcher(96, 64, preset="live")(left, right)
    bgr = ls.Matcher(96, 64, preset="live", bgr=True)(left[..., ::-1], right[..., ::-1])
    assert np.array_equal(rgb.disparity, bgr.disparity)
    assert np.array_equal(bgr.left, left[..., ::-1]) and bgr.left.flags.c_contiguous


def test_grey_and_colour_by_turns(dots):
    color = dots(96, 64)
    grey = [picture[..., 0].copy() for picture in color]
    m = ls.Matcher(96, 64, preset="live")
    first, second, third = m(*color), m(*grey), m(*color)
    assert second.left.shape == (64, 96) and np.array_equal(second.left, grey[0])
    assert np.array_equal(first.disparity, third.disparity)
    assert np.array_equal(ls.Matcher(96, 64, preset="live")(*grey).disparity, second.disparity)


def test_probe_and_energy(dots):
    m = ls.Matcher(96, 64, preset="live", disparity_range=32)
    with pytest.raises(ls.Error) as caught:
        m.probe(48, 32)
    assert caught.value.errno == errno.EINVAL
    m(*dots(96, 64))
    probe = m.probe(48, 32)
    assert probe.cost.shape == probe.belief.shape == (32,)
    assert probe.u + probe.label == 10 and probe.cost.argmin() == 10
    assert m.energy() > 0


def test_result_outlives_its_matcher(dots, calibration):
    pair = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live", calibration=calibration(96, 64))
    r, again = m(*pair), m(*pair)
    depth, map_ = again.depth.tobytes(), again.disparity.tobytes()
    del m, again
    gc.collect()
    assert r.depth.tobytes() == depth and len(r.points) > 0
    disparity = r.disparity
    del r
    gc.collect()
    assert disparity.tobytes() == map_


def in_child(method, work, *arguments):
    """What work gives in a pool of one process, which has a minute."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply_async(work, arguments).get(60)


def known_matcher(calibration=None):
    return ls.Matcher(96, 64, preset="live", disparity_range=16, calibration=calibration)


def compute_with(pair):
    return inherited(*pair).disparity.tobytes()


def compute_and_send(pair, calibration):
    return known_matcher(calibration)(*pair)


def fail(_nothing):
    ls.Matcher(64, 48, preset="none")


def drop(_nothing):
    global inherited
    inherited = None
    gc.collect()
    return "dropped"


def test_a_forked_process_goes_on(dots):
    global inherited
    pair = dots(96, 64)
    inherited = known_matcher()
    expected = inherited(*pair).disparity.tobytes()
    assert in_child("fork", compute_with, pair) == expected
    assert in_child("fork", drop, None) == "dropped"
    with inherited._turn(), inherited._handle.lock():  # as by a thread that the child has not
        assert in_child("fork", compute_with, pair) == expected
    inherited = None


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_results_and_errors_go_from_process_to_process(method, dots, calibration):
    pair, path = dots(96, 64), calibration(96, 64)
    sent, own = in_child(method, compute_and_send, pair, path), compute_and_send(pair, path)
    assert sent.disparity.tobytes() == own.disparity.tobytes()
    assert sent.depth.tobytes() == own.depth.tobytes() and np.isfinite(sent.depth).any()
    assert np.array_equal(sent.points, own.points) and np.array_equal(sent.left, own.left)
    with pytest.raises(ls.Error, match='"none" is no preset') as caught:
        in_child(method, fail, None)
    assert caught.value.errno == errno.ENOENT
    with pytest.raises(TypeError, match="make one in each process"):
        pickle.dumps(known_matcher())


def test_a_disparity_put_in_place_of_another(dots, calibration):
    m, pair = known_matcher(calibration(96, 64)), dots(96, 64)
    right = m(*pair).depth
    for change in (lambda d: d[::-1], lambda d: d[:, ::-1], lambda d: np.asfortranarray(d),
                   lambda d: d.astype(np.float32), lambda d: d.astype(np.int64)):
        r = m(*pair)
        r.disparity = change(r.disparity)
        back = change(right) if r.disparity.dtype == np.int16 else right
        assert np.array_equal(r.depth, back, equal_nan=True)
        assert len(r.points) == np.isfinite(right).sum()
    for change in (lambda d: d[:-1], lambda d: d / 3, lambda d: d.astype(int) + 40000):
        r = m(*pair)
        r.disparity = change(r.disparity)
        with pytest.raises(ValueError, match="disparity: int16 of shape"):
            r.depth


def test_what_c_would_cut_is_refused():
    for wrong in (2**32 + 96, -2**31 - 1, 2**63):
        with pytest.raises(ValueError, match="too large"):
            ls.Matcher(wrong, 64)
        rig = ls.Rig()
        with pytest.raises(ValueError, match="too large"):
            rig.camera[0].width = wrong
        with pytest.raises(ctypes.ArgumentError, match="too large"):
            known_matcher().probe(wrong, 0)
    for arguments in ({"preset": "live\0"}, {"descriptor": "census\0x"}, {"calibration": "a\0b"}):
        with pytest.raises(ValueError, match="NUL"):
            ls.Matcher(96, 64, **arguments)
    for nothing in (b"", np.empty((500000, 0), np.uint8)):
        with pytest.raises(ValueError, match="no bytes"):
            ls.Matcher(96, 64, descriptor="learned", weights=nothing)


def test_formats_with_chroma_and_alpha():
    random = np.random.default_rng(5)
    grey = random.integers(16, 236, (64, 96), np.uint8)
    luma = np.clip((298 * (grey.astype(int) - 16) + 128) >> 8, 0, 255).astype(np.uint8)
    m = known_matcher()
    plain = np.repeat(luma[..., None], 3, 2)
    expected = m(plain, np.roll(plain, -4, 1))
    half = np.full((32, 96), 128, np.uint8)
    forms = {"nv12": lambda p: np.vstack((p, half)),
             "yuyv": lambda p: np.dstack((p, np.full_like(p, 128)))}
    for form in forms.values():
        r = m(form(grey), form(np.roll(grey, -4, 1)))
        assert r.disparity.tobytes() == expected.disparity.tobytes()
        assert np.array_equal(r.left, expected.left)
    rgba = np.dstack((plain, random.integers(0, 256, (64, 96), np.uint8)))
    r = m(rgba, np.roll(rgba, -4, 1))
    assert r.disparity.tobytes() == expected.disparity.tobytes()
    with pytest.raises(ValueError, match=r"uint8 of shape \(64, 96\)"):
        ls.Matcher(96, 64, bgr=True)(rgba, rgba)


def test_start_and_wait(dots):
    one, two = dots(96, 64), dots(96, 64, 4)
    m = known_matcher()
    expected = m(*one).disparity, m(*two).disparity
    m.start(*one)
    with pytest.raises(ls.Error) as caught:
        for _ in range(9):
            m.start(*two)
    assert caught.value.errno == errno.EBUSY
    with pytest.raises(ValueError, match="wait"):
        m(*one)
    assert np.array_equal(m.wait(timeout=60).disparity, expected[0])
    while True:
        try:
            assert np.array_equal(m.wait().disparity, expected[1])
        except ValueError as error:
            assert "no pair has been started" in str(error)
            break
    assert np.array_equal(m(*one).disparity, expected[0])


def test_the_right_picture_and_the_end(dots):
    left, right = dots(96, 64)
    with ls.Matcher(96, 64, preset="live", disparity_range=16, right=True) as m:
        r = m(left, right)
        assert np.array_equal(r.left, left) and np.array_equal(r.right, right)
        assert known_matcher()(left, right).right is None
    with pytest.raises(ValueError, match="closed"):
        m(left, right)
    m.close()
    with ls.Matcher(96, 64, preset="live", disparity_range=16, right=True, bgr=True) as m:
        assert np.array_equal(m(left, right).right, right)


def test_500_pairs_do_not_grow(dots):
    def resident():
        gc.collect()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    pair = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live", disparity_range=16)
    for _ in range(50):
        m(*pair).px
    before = resident()
    for _ in range(500):  # 54 KB each
        m(*pair).px
    assert resident() - before < 4 << 20


# ---- settings and mistakes


def test_settings():
    settings = ls.settings()
    assert settings["disparity_range"].type == "int" and settings["backend"].at_open
    assert settings["backend"].choices == ("auto", "cpu", "cuda")
    assert settings["backend"].default == "auto" and settings["fill"].type == "bool"
    m = ls.Matcher(96, 64)
    # Each default is what the settings begin with, in its own type.
    assert {name: s.default for name, s in settings.items()} == m.settings
    assert all(type(s.default) is type(m.settings[name]) for name, s in settings.items())
    m = ls.Matcher(96, 64, disparity_range=np.int64(24), data_weight=0.05, fill=True,
                   bp_schedule="tiles", smoothness="quadratic")
    assert m.settings["disparity_range"] == 24 and m.settings["data_weight"] == 0.05
    assert m.settings["fill"] is True and m.settings["smoothness"] == "quadratic"


def test_update(dots):
    pair = dots(96, 64)
    m = ls.Matcher(96, 64, preset="live", disparity_range=16)
    m(*pair)
    m.update(disparity_range=32, subpixel="off")
    assert m.info.labels == 32 and m.settings["disparity_range"] == 32
    fresh = ls.Matcher(96, 64, preset="live", disparity_range=32, subpixel="off")
    assert np.array_equal(m(*pair).disparity, fresh(*pair).disparity)
    with pytest.raises(ls.Error, match="disparity_range"):
        m.update(bp_iterations=3, disparity_range=-1)
    assert m.settings == fresh.settings


def test_errors_have_the_library_s_sentence():
    for keywords, code, words in (({"preset": "nothing"}, errno.ENOENT, '"nothing" is no preset'),
                                  ({"disparity": 3}, errno.ENOENT, "disparity"),
                                  ({"disparity_range": "many"}, errno.EINVAL, "disparity_range"),
                                  ({"disparity_range": 9999}, errno.ERANGE, "disparity_range"),
                                  ({"weights": b"?"}, errno.EINVAL, "file of weights"),
                                  ({"alpha": 2}, errno.EINVAL, "alpha")):
        with pytest.raises(ls.Error, match=words) as caught:
            ls.Matcher(64, 48, **keywords)
        assert caught.value.errno == code, words
    with pytest.raises(ls.Error, match="16384"):
        ls.Matcher(1, 48)


def test_depth_needs_a_calibration(dots):
    r = ls.Matcher(96, 64, preset="live")(*dots(96, 64))
    with pytest.raises(ls.Error, match="depth needs a calibration") as caught:
        r.depth
    assert caught.value.errno == errno.ENOTSUP
    with pytest.raises(ls.Error, match="calibration"):
        r.points
    moved = ls.Matcher(96, 64, preset="flow")(*dots(96, 64, 3))
    assert moved.disparity is None and moved.motion.shape == (2, 64, 96)
    with pytest.raises(ls.Error, match="mode=motion"):
        moved.depth


@pytest.mark.parametrize("wrong", [
    np.zeros((64, 96), np.float32), np.zeros((64, 96), np.int8), np.zeros((96, 64), np.uint8),
    np.zeros((64, 96, 1), np.uint8), np.zeros((64, 96, 5), np.uint8), np.zeros(96, np.uint8),
    np.zeros((0, 96), np.uint8), np.zeros((3, 64, 96), np.uint8), None, "left.png", [[1, 2]]])
def test_wrong_pictures(wrong, dots):
    m = ls.Matcher(96, 64, preset="live")
    left, right = dots(96, 64)
    with pytest.raises(ValueError, match=r"left: uint8 of shape \(64, 96\) or \(64, 96, 3\)"):
        m(wrong, right)
    with pytest.raises(ValueError, match="right: uint8"):
        m(left, wrong)
    with pytest.raises(ValueError, match="both be grey or both in colour"):
        m(left, right[..., 0])
    assert np.array_equal(m(left, right).left, left)


# ---- threads and signals


def test_two_matchers_in_two_threads(dots):
    pairs = [dots(96, 64, seed=seed) for seed in (1, 2)]
    alone = [ls.Matcher(96, 64, preset="live")(*pair).disparity for pair in pairs]
    wrong = []

    def work(pair, expected):
        m = ls.Matcher(96, 64, preset="live")
        for _ in range(20):
            if not np.array_equal(m(*pair).disparity, expected):
                wrong.append(pair)

    threads = [threading.Thread(target=work, args=job) for job in zip(pairs, alone)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_take_turns_with_one_matcher(dots):
    pairs = [dots(96, 64, seed=seed) for seed in (1, 2)]
    m = ls.Matcher(96, 64, preset="live", temporal_mode="off")
    alone = [m(*pair).disparity for pair in pairs]
    results = [[], []]

    def work(i):
        results[i] = [m(*pairs[i]).disparity for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in (0, 1):
        assert len(results[i]) == 20
        assert all(np.array_equal(d, alone[i]) for d in results[i])


def test_other_threads_run_meanwhile(dots):
    pair = dots(640, 480)
    m = ls.Matcher(640, 480, backend="cpu", threads=1)
    began, ended = threading.Event(), threading.Event()

    def work():
        began.set()
        m(*pair)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    steps = 0
    while not ended.is_set():
        time.sleep(0.001)  # needs the interpreter's lock afterwards
        steps += 1
    thread.join()
    assert steps > 20


def test_an_interrupted_frame_keeps_its_memory(dots, monkeypatch):
    wait = ls.lib.wait_for

    def interrupted(_handle, _timeout, _result):
        monkeypatch.setattr(ls.lib, "wait_for", wait)
        raise KeyboardInterrupt

    left, right = dots(96, 64)
    gone = weakref.ref(left)
    m = ls.Matcher(96, 64, preset="live")
    expected = m(left, right).disparity
    monkeypatch.setattr(ls.lib, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        m(left, right)
    del left
    gc.collect()
    assert gone() is not None
    other = dots(96, 64)
    assert np.array_equal(m(*other).disparity, expected)
    gc.collect()
    assert gone() is None


# ---- problems of the caller's own


def costs_of_noise(height=4, width=5, labels=3, seed=1):
    return np.random.default_rng(seed).integers(0, 60, (height, width, labels)).astype(np.uint8)


def energy_of(cost, label, v, right, down):
    rows, columns = np.indices(label.shape)
    return (cost[rows, columns, label].sum() +
            (right[:, :-1] * v[label[:, :-1], label[:, 1:]]).sum() +
            (down[:-1] * v[label[:-1], label[1:]]).sum())


def test_solve():
    """Of any type, order and direction of the axes; weights, and what is returned."""
    cost, rng = costs_of_noise(20, 30, 6), np.random.default_rng(2)
    right, down = rng.integers(0, 3, (2, 20, 30), np.uint8)
    expected = None
    for given in (cost, cost.astype(np.uint16), cost.astype(np.float32), cost.tolist(),
                  cost.astype(">u2"), np.asfortranarray(cost), cost[::-1].copy()[::-1],
                  np.repeat(cost, 2, 1)[:, ::2]):
        s = ls.solve(given, smoothness="quadratic", lambda_=7, truncation=40, right=right,
                     down=down.T.copy().T)
        expected = s.label if expected is None else expected
        assert np.array_equal(s.label, expected) and s.label.dtype == np.uint16
    k = np.arange(6)
    v = np.minimum(7 * (k[:, None] - k) ** 2, 40)
    assert s.energy == energy_of(cost, s.label, v, right, down)
    assert s.bound <= s.energy and s.sweeps >= 1
    assert ls.solve(cost, smoothness=v, right=right, down=down).energy == s.energy


@pytest.mark.parametrize("error, text, given", [
    (ValueError, "shape", {"cost": np.zeros((2, 2))}),
    (ValueError, "none of linear", {"smoothness": "cubic"}),
    (ValueError, "right must be", {"right": np.ones((4, 5))}),
    (ValueError, "down must be", {"down": np.ones((4, 4), np.uint8)}),
    (ValueError, r"\(3, 3\)", {"smoothness": np.zeros((3, 2))}),
    (ls.Error, "2 to 512", {"cost": np.zeros((2, 2, 1))}),
    (ls.Error, "no finite number", {"cost": np.full((2, 2, 2), np.nan)}),
    (ls.Error, "lambda", {"lambda_": -1})])
def test_solve_refuses(error, text, given):
    with pytest.raises(error, match=text):
        ls.solve(**{"cost": costs_of_noise(), **given})


SOLVING = """
import os, signal, threading, time
import livestereo as ls
import numpy as np

signal.signal(signal.SIGINT, signal.default_int_handler)
cost = np.random.default_rng(1).integers(0, 256, (32, 32, 4)).astype(np.uint8)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    ls.solve(cost, smoothness="potts", lambda_=40, sweeps=10 ** 8)  # would take hours
except KeyboardInterrupt:
    while threading.active_count() > 1:
        time.sleep(0.01)
    print("ended")
"""


def test_ctrl_c_ends_solve():
    done = subprocess.run([sys.executable, "-c", SOLVING], stdout=subprocess.PIPE, text=True,
                          check=True)
    assert done.stdout == "ended\n"


def test_wait_refuses_what_is_no_time(dots):
    m, pair = ls.Matcher(96, 64, preset="live", temporal_mode="off"), dots(96, 64)
    m.start(*pair)
    for timeout in (-1, float("nan"), -float("inf")):
        with pytest.raises(ValueError, match="timeout"):
            m.wait(timeout)
    assert np.array_equal(m.wait().disparity, m(*pair).disparity)


def test_close_has_the_lock():
    m = ls.Matcher(96, 64, preset="live")
    handle, held = m._handle, []
    close = handle._close
    handle._close = lambda: (held.append(handle.lock.locked()), close())
    m.close()
    assert held == [True]


INTERRUPTED = """
import os, signal, sys, threading, time
import livestereo as ls
import numpy as np

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it was ignored before

def interrupt():
    while not m._handle.lock.locked() or not m._handle._pairs:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

def interrupt_wait():
    with m._handle.lock():
        while threading.active_count() < 3:  # the thread that waits
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
        ended.wait()

size = 800, 600
pair = np.random.default_rng(1).integers(0, 256, (2, size[1], size[0], 3), np.uint8)
m = ls.Matcher(*size, preset="live", backend="cpu", threads=1, disparity_range=64)
waits, ended = sys.argv[1] == "wait", threading.Event()
m.start(*pair) if waits else None
threading.Thread(target=interrupt_wait if waits else interrupt).start()
try:
    m.wait() if waits else m(*pair)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", "while computing" if m._handle.lock.locked() else "afterwards")
ended.set()
if sys.argv[1] in ("again", "wait"):
    again = (m.wait() if waits else m(*pair)).disparity
    print("same", np.array_equal(again, ls.Matcher(*size, preset="live", disparity_range=64)(
        *pair).disparity))
"""


def test_ctrl_c_in_settings_is_not_lost(monkeypatch):
    parameters, before = ls.lib.parameters, signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt(each, context):
        os.kill(os.getpid(), signal.SIGINT)
        return parameters(each, context)

    monkeypatch.setattr(ls.lib, "parameters", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            ls.settings()
            time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("then", ["again", "wait", "exit"])
def test_ctrl_c(then):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, then], stdout=subprocess.PIPE,
                          text=True, check=True)
    assert done.stdout.splitlines() == ["interrupted while computing"] + (
        ["same True"] if then != "exit" else [])
