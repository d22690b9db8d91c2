"""Accelerators that nobody loads by hand: what is found, what is rejected, and what is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mx
from ffi import trust
from mx._acc import attribute, discovery, table
from mx._library import PATH as OPERATORS


@pytest.fixture
def found(monkeypatch) -> Iterator[Callable[..., None]]:
    """Sets variables and begins to look anew; what was loaded is unloaded after the test."""
    before = {row.name for row in mx.accelerators()}

    def begin(**variables: object) -> None:
        for name in (discovery.VARIABLE, discovery.TRUSTED, discovery.AUTOLOAD):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setattr(discovery, "DISCOVERY", discovery.Discovery())
        attribute.withdraw()
        attribute.offer(table.find_attribute)

    monkeypatch.setattr(discovery, "BUNDLED", "/nowhere")
    monkeypatch.setattr(attribute, "BUNDLED", "/nowhere")
    yield begin
    attribute.withdraw()
    for name in {row.name for row in mx.accelerators()} - before:
        mx.unload_acc(name)


@pytest.fixture
def named(tmp_path: Path, accelerators: Path) -> Callable[..., Path]:
    """A library of its own with a name of its own, of that length at most, in a folder."""

    def make(name: str, folder: str = "found") -> Path:
        content = (accelerators / "libmyacc.so").read_bytes()
        assert content.count(b"myacc\0") >= 1 and len(name) == len("myacc")
        library = tmp_path / folder / f"lib{name}.so"
        library.parent.mkdir(exist_ok=True)
        library.write_bytes(content.replace(b"myacc\0", name.encode() + b"\0"))
        return library

    return make


def installed(folder: Path, name: str, value: str, code: str = "") -> None:
    """A package with an entry point, as if it were installed in the folder."""
    info = folder / "vendor_of_it-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vendor-of-it\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{discovery.GROUP}]\n{name} = {value}\n")
    (folder / "vendor_of_it").mkdir()
    (folder / "vendor_of_it" / "__init__.py").write_text(code)


ASKED: dict[str, Callable[[str], object]] = {
    "attribute": lambda name: getattr(mx, name)(0),
    "context": lambda name: mx.Context(name),
    "acc": lambda name: mx.acc(name),
    "text": lambda name: mx.np.zeros(1, ctx=f"{name}(0)").ctx,
    "list": lambda name: {row.name: row for row in mx.accelerators()}[name].devices[0].context,
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_found_when_asked_for(found, named, ask: Callable[[str], object]) -> None:
    library = named("first")
    found(MXNET_ACC_LIBRARIES=library.parent)
    assert str(ask("first")) == "first(0)"
    row = next(row for row in mx.accelerators() if row.name == "first")
    assert (row.path, row.found) == (str(library), "MXNET_ACC_LIBRARIES")


def test_what_is_no_library_stops_nothing(found, named) -> None:
    """A pipe, which has whoever opens it wait, and a large file without symbols."""
    library = named("first")
    os.mkfifo(library.with_name("pipes.so"))
    with open(library.with_name("holes.so"), "wb") as file:
        file.truncate(1 << 40)
    found(MXNET_ACC_LIBRARIES=library.parent)
    assert mx.first(0).device_type == "first"
    errors = {failure.name: str(failure.error) for failure in mx.accelerators().failures}
    assert "it is not a regular file" in errors["pipes"]
    assert "holes" in errors


def test_files_and_folders(found, named) -> None:
    """A library that another one in the folder needs is no accelerator, and no failure."""
    one, two = named("alpha", "one"), named("gamma", "two")
    shutil.copy(OPERATORS, two.parent / "libneeded.so")
    found(MXNET_ACC_LIBRARIES=f"{one}{os.pathsep}{os.pathsep}{two.parent}")
    listed = mx.accelerators()
    assert {"alpha", "gamma"} <= {row.name for row in listed}
    assert not listed.failures


def test_bundled(found, named, monkeypatch) -> None:
    for module in (attribute, discovery):
        monkeypatch.setattr(module, "BUNDLED", str(named("inner").parent))
    found()
    assert mx.inner(0).device_type == "inner"
    assert [row.found for row in mx.accelerators() if row.name == "inner"] == ["bundled"]


# What an entry point's value is, and the code of its package.
ENTRIES: dict[str, tuple[str, str]] = {
    "function": ("vendor_of_it:find", "def find(): return {library!r}"),
    "constant": ("vendor_of_it:PATH", "import pathlib; PATH = pathlib.Path({library!r})"),
    "module": ("vendor_of_it", ""),
}


@pytest.mark.parametrize("value, code", ENTRIES.values(), ids=ENTRIES)
def test_installed(found, named, monkeypatch, tmp_path: Path, value: str, code: str) -> None:
    """The entry point's name is the accelerator's, and no other name loads it."""
    library = named("plain")
    installed(tmp_path, "fancy", value, code.format(library=str(library)))
    if not code:
        shutil.copy(library, tmp_path / "vendor_of_it")
    monkeypatch.syspath_prepend(str(tmp_path))
    found()
    with pytest.raises(RuntimeError, match="no accelerator 'other' is loaded"):
        mx.acc("other")
    assert "vendor_of_it" not in sys.modules
    try:
        assert mx.acc("fancy", 0) == mx.fancy(0)
        rows = [row.found for row in mx.accelerators() if row.name == "fancy"]
        assert rows == ["package vendor-of-it"]
    finally:
        del sys.modules["vendor_of_it"]


BROKEN: dict[str, tuple[str, type[Exception], str]] = {
    "raises": ("def find(): raise OSError('no such card')", OSError, "no such card"),
    "no path": ("def find(): return 3", TypeError, "expected to give a path, got int"),
    "no such function": ("", AttributeError, "find"),
    "no file": ("def find(): return '/nowhere.so'", FileNotFoundError, "no such file"),
}


@pytest.mark.parametrize("code, error, message", BROKEN.values(), ids=BROKEN)
def test_says_why_an_installed_one_fails(
    found, monkeypatch, tmp_path: Path, code: str, error: type[Exception], message: str
) -> None:
    installed(tmp_path, "faulty", "vendor_of_it:find", code)
    monkeypatch.syspath_prepend(str(tmp_path))
    found()
    with pytest.raises(error, match=message):
        mx.Context("faulty")
    with pytest.raises(error, match=message):
        mx.acc("faulty")
    (failure,) = mx.accelerators().failures
    assert (failure.name, failure.found) == ("faulty", "package vendor-of-it")
    assert f"not loaded: {failure.path}" in repr(mx.accelerators())
    sys.modules.pop("vendor_of_it", None)


def test_says_why_one_of_the_environment_fails(found, tmp_path: Path) -> None:
    broken = tmp_path / "libfoo.so"
    broken.write_text("no library")
    found(MXNET_ACC_LIBRARIES=f"{tmp_path}{os.pathsep}{tmp_path}/none")
    with pytest.raises(ImportError, match="libfoo.so.*it is no ELF"):
        mx.Context("foo")
    with pytest.raises(ImportError, match="libfoo.so.*it is no ELF"):
        mx.np.zeros(1, ctx="foo(0)")
    with pytest.raises(AttributeError, match="mx.foo: .*libfoo.so .*it is no ELF"):
        mx.foo  # noqa: B018
    with pytest.raises(ValueError, match="expected one of"):
        mx.Context("bar")
    with pytest.raises(ValueError, match=r"unknown context 'bar\(0\)'"):
        mx.np.zeros(1, ctx="bar(0)")
    assert [Path(each.path).name for each in mx.accelerators().failures] == ["libfoo.so", "none"]


def test_mx_is_a_plain_module_once_somebody_has_looked(found, named) -> None:
    """With a __getattr__ among its names CPython looks each of them up slowly."""
    found()
    assert "__getattr__" not in vars(mx)
    found(MXNET_ACC_LIBRARIES=named("quick"))
    assert "__getattr__" in vars(mx)
    assert mx.quick(0).device_type == "quick"
    assert "__getattr__" not in vars(mx)
    with pytest.raises(AttributeError, match="module 'mx' has no attribute 'never'"):
        mx.never  # noqa: B018


def test_variable_that_is_set_after_the_import(found, named, monkeypatch) -> None:
    """mx.<name> knows nothing of it, and mx.acc does."""
    found()
    monkeypatch.setenv(discovery.VARIABLE, str(named("later")))
    with pytest.raises(AttributeError):
        mx.later  # noqa: B018
    assert mx.acc("later") == mx.later(0)


def test_unknown_attribute_tells_who_looks_further(found, named) -> None:
    found(MXNET_ACC_LIBRARIES=named("quick"))
    with pytest.raises(AttributeError, match=r"'other'; mx.acc\('other'\) looks for"):
        mx.other  # noqa: B018


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (("none",), RuntimeError, "no accelerator 'none' is loaded.*mx.load_acc"),
        ((1.5,), TypeError, "argument 0 .* expected str or int, got float"),
        ((1, 2), TypeError, "two numbers of a device, 1 and 2"),
    ],
)
def test_acc_rejects(found, arguments, error: type[Exception], message: str) -> None:
    found()
    with pytest.raises(error, match=message):
        mx.acc(*arguments)


def test_one_name_of_two_libraries(found, named) -> None:
    one, two = named("taken", "one"), named("taken", "two")
    found(MXNET_ACC_LIBRARIES=f"{one}{os.pathsep}{two}")
    listed = mx.accelerators()
    assert [row.path for row in listed if row.name == "taken"] == [str(one)]
    (failure,) = listed.failures
    assert failure.path == str(two)
    assert f"taken by {one}; give {two} another with acc_name" in str(failure.error)


def test_one_library_under_two_paths(found, named) -> None:
    library = named("solid")
    link = library.with_name("liblink.so")
    link.symlink_to(library)
    found(MXNET_ACC_LIBRARIES=f"{library}{os.pathsep}{link}{os.pathsep}{library.parent}")
    assert mx.solid(0) == mx.load_acc(link) == mx.load_acc(library)
    with pytest.raises(ValueError, match="is loaded already, as solid"):
        mx.load_acc(link, "other")
    assert not mx.accelerators().failures


def test_off(found, named) -> None:
    library = named("quiet")
    found(MXNET_ACC_LIBRARIES=library, MXNET_ACC_AUTOLOAD=0)
    with pytest.raises(AttributeError, match="quiet"):
        mx.quiet  # noqa: B018
    assert mx.load_acc(library).device_type == "quiet"


def test_import_looks_for_nothing(tmp_path: Path) -> None:
    script = "import sys, mx; print([m for m in sys.modules if m in {!r}])"
    modules = ("mx._acc.discovery", "importlib.metadata", "mmap")
    done = subprocess.run(
        [sys.executable, "-c", script.format(modules)],
        env={**os.environ, "MXNET_ACC_LIBRARIES": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


# What makes a library that the environment names one that others could have written.
def writable_file(library: Path) -> None:
    library.chmod(0o646)


def writable_folder(library: Path) -> None:
    library.parent.chmod(0o757)


def writable_by_group(library: Path) -> None:
    # No group of one user alone has the number.
    os.chown(library.parent, -1, 1)
    library.parent.chmod(0o775)


def of_another(library: Path) -> None:
    os.chown(library, 12345, -1)


def folder_of_another(library: Path) -> None:
    os.chown(library.parent, 12345, -1)


def link_through_writable(library: Path) -> None:
    """The path leads through a folder in which others could turn the link elsewhere."""
    public = library.parent / "public"
    public.mkdir()
    public.chmod(0o757)
    real = library.rename(library.parent / "real.so")
    (public / "step.so").symlink_to(real)
    library.symlink_to(public / "step.so")


OTHERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "writable file": (writable_file, "everybody may write to .*libtrust.so"),
    "writable folder": (writable_folder, "everybody may write to .*/found"),
    "writable by group": (writable_by_group, "the group .* may write to"),
    "of another": (of_another, "libtrust.so belongs to the user with the number 12345"),
    "folder of another": (folder_of_another, "found belongs to the user"),
    "link": (link_through_writable, "everybody may write to .*/public"),
}


@pytest.mark.parametrize("spoil, reason", OTHERS.values(), ids=OTHERS)
def test_rejects_what_others_may_write(
    found, named, spoil: Callable[[Path], None], reason: str
) -> None:
    library = named("trust")
    if spoil in (writable_by_group, of_another, folder_of_another) and os.geteuid() != 0:
        pytest.skip("only root may give a file to another user or group")
    assert trust.distrust(str(library)) is None
    spoil(library)
    found(MXNET_ACC_LIBRARIES=library)
    with pytest.raises(PermissionError, match=reason):
        mx.Context("trust")
    for allowed in ("1", library, library.parent, f"/nowhere{os.pathsep}{library}"):
        found(MXNET_ACC_LIBRARIES=library, MXNET_ACC_TRUSTED=allowed)
        assert mx.trust(0).device_type == "trust"
        mx.unload_acc("trust")
    found(MXNET_ACC_LIBRARIES=library, MXNET_ACC_TRUSTED=f"{library.parent}x")
    with pytest.raises(PermissionError, match="unless MXNET_ACC_TRUSTED names it"):
        mx.Context("trust")
    # Whoever gives the path has looked at it.
    mx.load_acc(library)
