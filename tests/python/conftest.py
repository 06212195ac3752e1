"""What the tests of the Python package share. SPDX-License-Identifier: MIT"""
import os
import pathlib

import numpy as np
import pytest


@pytest.fixture
def dots():
    """dots(width, height, disparity=10): a pair in colour, whose disparity is the same everywhere
    but in columns that the right picture does not show."""
    def make(width, height, disparity=10, seed=1):
        random = np.random.default_rng(seed)
        picture = random.integers(0, 256, (height, width + disparity, 3), np.uint8)
        return picture[:, :width].copy(), picture[:, disparity:].copy()
    return make


@pytest.fixture(scope="session")
def data():
    """The folder of pictures with known disparities."""
    folder = pathlib.Path(os.environ.get("LIVESTEREO_DATA", "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"needs {folder}; set LIVESTEREO_DATA")
    return folder


@pytest.fixture(scope="session")
def program():
    """The path of the program, whose results the package's are compared with."""
    return os.environ["LIVESTEREO_BIN"]
