"""Builds the native parts of mxffi; metadata and tool settings live in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup

# An isolated build does not put the project's own folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from build_support.command import BuildNative, BuildPackages, extension_modules  # noqa: E402

setup(
    ext_modules=extension_modules(),
    cmdclass={"build_py": BuildPackages, "build_ext": BuildNative},
)
