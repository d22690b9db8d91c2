"""Compiles the library; everything else is in pyproject.toml."""

from setuptools import Extension, setup

import ffi.config

# To setuptools it is an extension module, although nothing ever imports it: it is loaded by path.
operators = Extension(
    "wordcount._operators",
    sources=["wordcount/wordcount.cc"],
    language="c++",
    extra_compile_args=["-std=c++17", "-fvisibility=hidden", *ffi.config.compile_flags()],
    extra_link_args=[*ffi.config.link_flags(), "-Wl,-z,defs"],
)

setup(ext_modules=[operators])
