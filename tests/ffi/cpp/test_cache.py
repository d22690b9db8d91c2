"""The cache of ffi.cpp: when something is compiled again, and what is kept where."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ffi.cpp import build, load_inline

from .inline import C_SOURCE, flags

pytestmark = pytest.mark.usefixtures("cache")


def test_compiled_once(c_source, cache):
    module = load_inline("once", c_source, **flags("once.f"))
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    assert load_inline("once", c_source, **flags("once.f")) is module
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == files
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o022 == 0 for path in files if path.is_dir())


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda source: None, False),
        (lambda source: source.with_name("value.h").write_text("#define VALUE 2\n"), True),
        (lambda source: source.write_text(C_SOURCE + "// changed\n"), True),
        (lambda source: source.with_name("other.h").write_text("#define VALUE 2\n"), False),
    ],
    ids=["nothing", "header", "source", "another file"],
)
def test_compiled_again_where_an_input_has_changed(c_source, change, again):
    first = build("inputs", c_source, **flags("inputs.f"))
    assert build("inputs", c_source, **flags("inputs.f")) == first
    change(c_source)
    assert (build("inputs", c_source, **flags("inputs.f")) != first) == again
    assert first.exists()


FIRST = "#if __has_include(<extra.h>)\n#include <extra.h>\n#endif\n#include <value.h>\n"


def same_size_and_time(second):
    """Another header instead of the former, as `cp -p` puts it there."""
    header = second / "value.h"
    before = header.stat()
    (second / "new.h").write_text("#define VALUE 2\n")
    os.utime(second / "new.h", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(second / "new.h", header)


def archive(folder, value):
    (folder / "part.c").write_text(f"int part(void) {{ return {value}; }}\n")
    subprocess.run(["cc", "-fPIC", "-c", "part.c", "-o", "part.o"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda first, second: None, 11),
        (lambda first, second: (first / "value.h").write_text("#define VALUE 2\n"), 12),
        (lambda first, second: (second / "extra.h").write_text("#define EXTRA 20\n"), 21),
        (lambda first, second: same_size_and_time(second), 12),
        (lambda first, second: archive(second, 30), 31),
        (lambda first, second: archive(first, 30), 31),
    ],
    ids=["nothing", "header before", "has_include", "same time", "library", "library before"],
)
def test_compiled_again_for_what_would_be_read_now(tmp_path, monkeypatch, change, expected):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (second / "value.h").write_text("#define VALUE 1\n")
    archive(second, 10)
    source = tmp_path / "value.c"
    text = C_SOURCE.replace(
        '#include "value.h"\n', FIRST + "#ifndef EXTRA\n#define EXTRA part()\n#endif\n"
    )
    source.write_text(
        text.replace("= VALUE", "= EXTRA + VALUE").replace(
            "#ifndef NAME", "int part(void);\n#ifndef NAME"
        )
    )
    asked = {
        "extra_include_paths": [first, second],
        "extra_ldflags": [f"-L{first}", "-L", str(second), "-lpart"],
    }
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path / "cache"))
    built = build("later", source, **flags("later.f"), **asked)
    change(first, second)
    again = build("later", source, **flags("later.f"), **asked)
    assert (again == built) == (expected == 11)
    script = "import ctypes, sys, ffi\nprint(ffi.load_library(sys.argv[1]).f())"
    done = subprocess.run(
        [sys.executable, "-c", script, again], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == expected


@pytest.mark.parametrize("name", ["o'brien", 'a "b"', "back\\slash", "a b#c$d", "é"])
def test_any_name_of_a_folder(tmp_path, monkeypatch, c_source, name):
    folder = tmp_path / name
    folder.mkdir()
    for file in (c_source, c_source.with_name("value.h")):
        shutil.copy2(file, folder)
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(folder / "cache"))
    built = build("quoted", folder / "value.c", **flags("quoted.f"))
    assert build("quoted", folder / "value.c", **flags("quoted.f")) == built
    (folder / "value.h").write_text("#define VALUE 2\n")
    assert build("quoted", folder / "value.c", **flags("quoted.f")) != built


@pytest.mark.parametrize("what", ["flags", "name", "compiler"])
def test_compiled_apart_for_another(c_source, monkeypatch, tmp_path, what):
    first = build("apart", c_source, **flags("apart.f"))
    wrapper = tmp_path / "compiler"
    wrapper.write_text('#!/bin/sh\nexec cc "$@"\n')
    wrapper.chmod(0o755)
    if what == "compiler":
        monkeypatch.setenv("CC", str(wrapper))
    name = "else" if what == "name" else "apart"
    more = ["-DMORE"] if what == "flags" else []
    assert build(name, c_source, **flags("apart.f", *more)).parent != first.parent


@pytest.mark.parametrize(
    ("opened", "told"),
    [
        ("cache/open", "everybody may write to .*/open,.*somebody else's code. Remove .*/open and"),
        ("cache", "everybody may write to .*/cache,"),
        ("cache/open/*", "everybody may write to .*/value-"),
        ("cache/open/*/manifest.txt", "everybody may write to .*manifest.txt"),
        ("cache/open/*/*.so", "everybody may write to .*libvalue-"),
    ],
)
def test_a_cache_that_others_may_write_to(monkeypatch, tmp_path, c_source, opened, told):
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path / "cache" / "open"))
    built = build("value", c_source)
    (opened_to_others,) = tmp_path.glob(opened)
    opened_to_others.chmod(opened_to_others.stat().st_mode | 0o022)
    with pytest.raises(PermissionError, match=told):
        build("value", c_source)
    monkeypatch.setenv("MXFFI_CACHE_TRUSTED", "1")
    if opened_to_others != built:
        assert build("value", c_source) == built


def moved_here(entry):
    """An entry that was made for another key."""
    manifest = entry / "manifest.txt"
    _, rest = manifest.read_text().split("\n", 1)
    manifest.write_text(f"value-0123\n{rest}")


def on_library(change):
    return lambda entry: change(next(entry.glob("*.so")))


@pytest.mark.parametrize(
    "spoil",
    [
        moved_here,
        on_library(lambda library: os.truncate(library, library.stat().st_size // 2)),
        on_library(lambda library: library.write_bytes(bytes(library.stat().st_size))),
        on_library(Path.unlink),
        lambda entry: (entry / "manifest.txt").write_text(""),
        lambda entry: (entry / "manifest.txt").write_text("a\nb\nc"),
    ],
    ids=["of another key", "cut", "zeroed", "lost", "empty manifest", "other manifest"],
)
def test_a_spoiled_entry_is_made_anew(c_source, monkeypatch, tmp_path, spoil):
    monkeypatch.setenv("MXFFI_CACHE_DIR", str(tmp_path / "cache"))
    content = build("value", c_source).read_bytes()
    spoil(next((tmp_path / "cache").iterdir()))
    assert build("value", c_source).read_bytes() == content


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("{0}/file", FileExistsError),
        ("{0}/file/below", NotADirectoryError),
        ("/proc/none", FileNotFoundError),
    ],
)
def test_a_cache_that_cannot_be_made(monkeypatch, tmp_path, folder, error):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MXFFI_CACHE_DIR", folder.format(tmp_path))
    with pytest.raises(error, match="another folder in the variable MXFFI_CACHE_DIR"):
        build("f", "int f();")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MXFFI_CACHE_DIR": "{0}/own"}, "own"),
        ({"XDG_CACHE_HOME": "{0}/xdg"}, "xdg/mxffi"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "{0}"}, ".cache/mxffi"),
        ({"HOME": "{0}"}, ".cache/mxffi"),
    ],
)
def test_where_the_cache_is(monkeypatch, tmp_path, variables, expected):
    from ffi.cpp._cache import cache_dir

    for name in ("MXFFI_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert Path(cache_dir()) == tmp_path / expected
    assert stat.S_IMODE(Path(cache_dir()).stat().st_mode) == 0o700


def test_many_threads_compile_once(slow_compiler, c_source):
    log, found = slow_compiler(0.3), []
    target = lambda: found.append(build("threads", c_source, **flags("threads.f")))  # noqa: E731
    threads = [threading.Thread(target=target) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1
    assert log.read_text() == "run\n"


def test_many_processes_compile_once(slow_compiler, c_source):
    log = slow_compiler(0.5)
    script = "import pathlib, sys, ffi.cpp\n"
    script += "print(ffi.cpp.build('processes', pathlib.Path(sys.argv[1])))\n"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(c_source)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert len({process.communicate()[0] for process in running}) == 1
    assert all(process.returncode == 0 for process in running)
    assert log.read_text() == "run\n"
