"""examples/rerun_live.py: what it logs, by rerun's own reader. SPDX-License-Identifier: MIT"""
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("rerun", reason="needs rerun-sdk from PyPI")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_rerun(tmp_path):
    pair = [str(ROOT / f"examples/{name}.png") for name in ("left", "left", "right", "right")]
    subprocess.run([sys.executable, str(ROOT / "examples/rerun_live.py"), *pair, "--calibration",
                    str(ROOT / "examples/calibration.txt"), "--save", str(tmp_path / "a.rrd")],
                   check=True)
    rerun = os.path.join(os.path.dirname(sys.executable), "rerun")
    stats = subprocess.run([rerun, "rrd", "stats", str(tmp_path / "a.rrd")], check=True,
                           capture_output=True, text=True).stdout
    for path in ("/world/left/picture", "/world/left/depth", "/world/points", "/statistics/ms"):
        assert path in stats, stats
