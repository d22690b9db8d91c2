"""The release is written once, in pyproject.toml, and everything reports that one."""

import ctypes
import re
from importlib import metadata

import pytest

import ffi
import mx

from .locations import ROOT, RUNTIME_LIBRARY, installed

RELEASE = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M).group(1)


def release_of_the_runtime() -> str:
    major, minor, release = ctypes.c_int(), ctypes.c_int(), ctypes.c_char_p()
    runtime = ctypes.CDLL(str(installed(RUNTIME_LIBRARY)))
    assert runtime.MXNetGetVersion(*map(ctypes.byref, (major, minor, release))) == 0
    return release.value.decode()


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(lambda: ffi.__version__, id="ffi"),
        pytest.param(lambda: mx.__version__, id="mx"),
        pytest.param(lambda: metadata.version("mxffi"), id="distribution"),
        pytest.param(release_of_the_runtime, id="runtime"),
    ],
)
def test_reports_the_release(report):
    assert report() == RELEASE


def test_the_changelog_has_the_release():
    assert RELEASE in (ROOT / "CHANGELOG.md").read_text()
