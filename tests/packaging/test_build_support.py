"""The build repeats what has changed and only that, and says clearly why it cannot go on."""

import os
from pathlib import Path

import pytest

from build_support import steps
from build_support.targets import _file_of
from build_support.toolchain import toolchain

from .locations import ROOT


@pytest.mark.parametrize(
    ("package", "file"), [("onednn-of-nobody", "a.h"), ("numpy", "a_header_of_nobody.h")]
)
def test_a_missing_file_of_another_package_is_told(package, file):
    with pytest.raises(RuntimeError, match=f"needs {file} of the package {package}; .*install"):
        _file_of(package, file)


def make_steps(flag: str = "first") -> list:
    """part.c, which reads part.h, to part.o to whole.so, with a shell that notes each run."""

    def step(output: str, source: str, note: str, **more):
        script = f"echo {note} {flag if note == 'compile' else ''} >>log; cp {source} {output}"
        return steps.Step(("sh", "-c", script), Path(output), (Path(source),), **more)

    compiled = step("out/part.o", "part.c", "compile", depfile=Path("part.d"))
    return [compiled, step("out/whole.so", "out/part.o", "link", after=(compiled,))]


@pytest.fixture
def built(tmp_path):
    """A folder in which the steps have run once."""
    for name, text in {
        "part.c": "c",
        "part.h": "h",
        "part.d": "part.o: part.c \\\n part.h\n",
    }.items():
        (tmp_path / name).write_text(text)
    steps.run(make_steps(), tmp_path, jobs=2)
    assert (tmp_path / "log").read_text().split() == ["compile", "first", "link"]
    (tmp_path / "log").write_text("")
    return tmp_path


def make_newer(path: Path) -> None:
    later = path.stat().st_mtime + 10
    os.utime(path, (later, later))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda folder: None, [], id="nothing"),
        pytest.param(
            lambda folder: make_newer(folder / "part.c"), ["compile", "link"], id="source"
        ),
        pytest.param(
            lambda folder: make_newer(folder / "part.h"), ["compile", "link"], id="header"
        ),
        pytest.param(
            lambda folder: (folder / "out/whole.so").unlink(), ["link"], id="lost product"
        ),
        pytest.param(
            lambda folder: (folder / "out/part.o").unlink(), ["compile", "link"], id="lost object"
        ),
    ],
)
def test_repeats_what_changed(built, change, expected):
    change(built)
    steps.run(make_steps(), built, jobs=2)
    assert [word for word in (built / "log").read_text().split() if word != "first"] == expected


def test_repeats_for_another_command(built):
    steps.run(make_steps("second")[:1], built, jobs=1)
    assert (built / "log").read_text().split() == ["compile", "second"]


def test_failure_shows_command_and_output_and_is_not_current(tmp_path):
    failing = steps.Step(("sh", "-c", "echo why; exit 3"), tmp_path / "output", ())
    for _ in range(2):
        with pytest.raises(steps.StepError, match=r"sh -c 'echo why; exit 3'\nwhy"):
            steps.run([failing], tmp_path, jobs=1)


@pytest.mark.parametrize(
    ("environ", "flags"),
    [
        ({}, {"-O3", "-fvisibility=hidden"}),
        ({"MXFFI_WERROR": "1"}, {"-Werror", "-O3"}),
        ({"MXFFI_SANITIZE": "address,undefined"}, {"-fsanitize=address,undefined", "-O1"}),
        ({"MXFFI_CXXFLAGS": "-g -DNAME='a b'"}, {"-g", "-DNAME=a b"}),
    ],
)
def test_flags_from_the_environment(environ, flags):
    assert flags <= set(toolchain({"CXX": "c++", **environ}).compile_flags)


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_number_of_jobs_must_be_positive(jobs):
    with pytest.raises(RuntimeError, match=f"MXFFI_JOBS must be a positive integer, got '{jobs}'"):
        toolchain({"CXX": "c++", "MXFFI_JOBS": jobs})


def test_missing_compiler_is_explained(monkeypatch):
    monkeypatch.setenv("PATH", str(ROOT / "docs"))
    with pytest.raises(RuntimeError, match=r"C\+\+17 compiler.*variable CXX"):
        toolchain({})
