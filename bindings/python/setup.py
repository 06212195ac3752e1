"""Says of the wheel what pyproject.toml cannot: it has a library inside, so it is for one kind of
machine, but for each version of Python 3. In an sdist this file lies beside the Makefile, which
builds the library. SPDX-License-Identifier: MIT
"""
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

LIBRARY = "liblivestereo.so.0"
HERE = Path(__file__).resolve().parent
IS_SDIST = (HERE / "Makefile").exists()


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Build(build_py):
    def run(self):
        super().run()
        if IS_SDIST:
            made = f"build/wheel/livestereo/{LIBRARY}"
            subprocess.check_call(["make", made], cwd=HERE)
            shutil.copy2(HERE / made, Path(self.build_lib) / "livestereo")


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": Wheel, "build_py": Build},
      packages=["livestereo"], package_dir={"": "bindings/python"} if IS_SDIST else {},
      package_data={"livestereo": [LIBRARY, "py.typed"]}, license_files=["LICENSE*"])
