"""Each example in Python runs and says what is true of its pictures.
SPDX-License-Identifier: MIT
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def run(tmp_path, dots):
    """run(NAME, ARGUMENTS...): the output of an example in a folder with left.png, right.png and
    calibration.txt, in which all is 2 m away."""
    for name, picture in zip(("left.png", "right.png"), dots(320, 120)):
        Image.fromarray(picture).save(tmp_path / name)
    (tmp_path / "calibration.txt").write_text(
        "cam0=[200 0 160; 0 200 60; 0 0 1]\ncam1=[200 0 160; 0 200 60; 0 0 1]\nbaseline=100\n"
        "width=320\nheight=120\n")

    def run(name, *arguments):
        return subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, check=True, cwd=tmp_path,
                              env={**os.environ, "MPLBACKEND": "agg",
                                   "MPLCONFIGDIR": str(tmp_path)}).stdout
    return run


PAIR = "left.png", "right.png", "--calibration", "calibration.txt", "--preset", "live"


def test_pair(run):
    output = run("pair.py", *PAIR, "--no-plot")
    assert "disparity, px: 10.00" in output and "depth, m: 2.00" in output


def test_pair_plot(run, tmp_path):
    pytest.importorskip("matplotlib", reason="examples/pair.py plots with matplotlib")
    run("pair.py", *PAIR, "--plot", "plot.png")
    with Image.open(tmp_path / "plot.png") as plot:
        assert plot.size == (1800, 400)


def test_rgbd_folder(run, tmp_path):
    run("rgbd_folder.py", *PAIR, "-o", "out")
    color, depth = (np.asarray(Image.open(tmp_path / f"out/{name}/000000.png"))
                    for name in ("color", "depth"))
    assert np.array_equal(color, np.asarray(Image.open(tmp_path / "left.png")))
    assert np.median(depth[depth > 0]) == 2000
    assert "[200.0, 0, 0, 0, 200.0, 0, 160.0, 60.0, 1]" in (
        tmp_path / "out/intrinsics.json").read_text()
    assert (tmp_path / "out/associations.txt").read_text() == (
        "0.000000 color/000000.png 0.000000 depth/000000.png\n")


def test_camera(run, tmp_path):
    cv2 = pytest.importorskip("cv2", reason="examples/camera.py needs OpenCV (python3-opencv)")
    both = np.hstack([cv2.imread(str(tmp_path / name)) for name in ("left.png", "right.png")])
    video = cv2.VideoWriter(str(tmp_path / "both.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 30,
                            both.shape[1::-1])
    for _ in range(3):
        video.write(both)
    video.release()
    lines = run("camera.py", "both.avi", "--frames", 2, "--no-window").splitlines()
    assert [re.match(r"\d: [\d.]+ px", line)[0] for line in lines] == ["1: 10.0 px", "2: 10.0 px"]


def test_evaluate(run, tmp_path):
    folder = tmp_path / "pairs" / "dots"
    folder.mkdir(parents=True)
    for name in ("left.png", "right.png"):
        (tmp_path / name).rename(folder / name)
    truth = np.full((120, 320), 160, np.uint8)
    truth[:, :10] = 0  # not in the right picture
    Image.fromarray(truth).save(folder / "disp_left.png")
    (folder / "pair.ini").write_text("[pair]\ndisparity_scale=16\ndisparities=16\n")
    header, *rows = [line.split("\t") for line in run(
        "evaluate.py", "pairs", "--preset", "live", "disparity_range=8,16",
        "bp_iterations=2,3").splitlines()]
    assert header == ["disparity_range", "bp_iterations", "bad-1.0 %", "ms"]
    assert sorted(row[:2] for row in rows) == [["16", "2"], ["16", "3"], ["8", "2"], ["8", "3"]]
    for reach, _, bad, _ in rows:  # 10 px are beyond 8 labels
        assert float(bad) > 90 if reach == "8" else float(bad) < 2
    assert [row[0] for row in rows] == ["16", "16", "8", "8"]


def test_probe(run, tmp_path):
    pytest.importorskip("matplotlib", reason="examples/probe.py needs matplotlib")
    output = run("probe.py", "left.png", "right.png", 200, 60, "--plot", "curves.png")
    assert output == "(200, 60): 10 px, least cost at 10 px\n"
    assert (tmp_path / "curves.png").stat().st_size > 1000


def save(path, picture):
    Image.fromarray(np.asarray(picture, np.uint8)).save(path)


def load(path):
    return np.asarray(Image.open(path))


SIDE = 40
ROW, COLUMN = np.mgrid[:SIDE, :SIDE]
DISC = (COLUMN - 21) ** 2 + (ROW - 18) ** 2 < 120


def test_denoise(run, tmp_path):
    """A disc with noise and a scratch."""
    truth, scratch = np.where(DISC, 170, 70), ROW == COLUMN
    noise = np.random.default_rng(1).integers(-20, 21, truth.shape)
    noisy = np.where(scratch, 255, truth + noise)
    save(tmp_path / "noisy.png", noisy)
    save(tmp_path / "mask.png", 255 * scratch)
    run("solve_pictures.py", "denoise", "noisy.png", "--mask", "mask.png", "--sweeps", 5, "-o",
        "clean.png")
    clean = load(tmp_path / "clean.png").astype(int)
    assert abs(clean - truth).mean() < abs(noisy - truth).mean() / 2


def test_segment(run, tmp_path):
    """A disc whose grey levels overlap with those of the rest."""
    noise = np.random.default_rng(1).integers(-50, 51, DISC.shape)
    strokes = np.full(DISC.shape, 128)
    strokes[18, 15:27] = strokes[20, 15:27] = 255
    strokes[3, :24:2] = strokes[36, :36:3] = 0
    save(tmp_path / "photo.png", np.where(DISC, 160, 100) + noise)
    save(tmp_path / "strokes.png", strokes)
    run("solve_pictures.py", "segment", "photo.png", "--strokes", "strokes.png", "-o", "object.png")
    found = load(tmp_path / "object.png")
    assert set(np.unique(found)) == {0, 255}
    assert (found[strokes != 128] == strokes[strokes != 128]).all()
    assert ((found == 255) != DISC).mean() < 0.05




def test_typed(run, tmp_path, dots):
    for i in range(2):
        for side, picture in zip(("left", "right"), dots(96, 64, 10, i)):
            Image.fromarray(picture).save(tmp_path / f"{side}_{i}.png")
    (tmp_path / "calibration.txt").write_text(
        "cam0=[200 0 48; 0 200 32; 0 0 1]\ncam1=[200 0 48; 0 200 32; 0 0 1]\n"
        "baseline=100\nwidth=96\nheight=64\n")
    out = run("typed.py", tmp_path / "calibration.txt", *sorted(tmp_path.glob("left_*")),
              *sorted(tmp_path.glob("right_*")))
    assert re.fullmatch(r"((1\.9|2\.0)\d m\n){2}", out), out


@pytest.mark.parametrize("checker", [["mypy", "--strict", "--ignore-missing-imports"],
                                     ["pyright", "--pythonpath", sys.executable]])
def test_types(checker, tmp_path):
    """The package, and a script that is written from its types alone."""
    if not shutil.which(checker[0]):
        pytest.skip(f"needs {checker[0]}")
    files = [ROOT / "bindings/python/livestereo"] + [EXAMPLES / "typed.py"] * (checker[0] == "mypy")
    done = subprocess.run([*checker, *files], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "MYPYPATH": str(ROOT / "python")})
    assert done.returncode == 0, done.stdout
