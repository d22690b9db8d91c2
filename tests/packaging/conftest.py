"""The wheel that the tests look into."""

import subprocess
import sys
import zipfile

import pytest

from .locations import ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A folder with what is in a wheel built from the source tree."""
    for name in ("Cython", "scipy_openblas32", "setuptools"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", *options, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("mxffi-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "content")
    return folder / "content"
