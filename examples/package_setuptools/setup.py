"""Compiles the library; everything else is in pyproject.toml."""

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

import ffi.config


class BuildLibrary(build_ext):
    """Builds no extension module, although it is one to setuptools: it is loaded by its path."""

    def get_ext_filename(self, name):
        """The file's name, without the version of a Python that it is for."""
        return name.replace(".", "/") + ".so"


class WheelForAllPythons(bdist_wheel):
    """A wheel for a platform alone: the library uses nothing of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


operators = Extension(
    "wordcount.libwordcount",
    sources=["wordcount/wordcount.cc"],
    language="c++",
    # -g0 because setuptools compiles as Python was compiled, which is often with -g.
    extra_compile_args=["-std=c++17", "-fvisibility=hidden", "-g0", *ffi.config.compile_flags()],
    extra_link_args=[*ffi.config.link_flags(), "-Wl,-z,defs"],
)

setup(
    ext_modules=[operators],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": WheelForAllPythons},
)
