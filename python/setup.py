"""What pyproject.toml cannot say of the wheel: it has a library inside, so it is for one kind of
machine, but for each version of Python 3. SPDX-License-Identifier: MIT
"""
from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", self.plat_name


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": Wheel}, packages=["livestereo"],
      package_data={"livestereo": ["liblivestereo.so.0"]}, license_files=["LICENSE*"])
