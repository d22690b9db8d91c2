"""What is built: libraries and one extension module per .pyx, and from which sources."""

from __future__ import annotations

import os
import platform
import sysconfig
from dataclasses import dataclass
from pathlib import Path

PYTHON_ROOT = Path("python")

RUNTIME_LIBRARY = Path("ffi/lib/libmxnet_runtime.so")
ACC_SERVER = Path("ffi/lib/mxnet_acc_server")
OPERATOR_LIBRARY = Path("mx/lib/libmxnet_operators.so")
ONEDNN_LIBRARY = Path("mx/lib/libmxnet_onednn.so")
CHECK_LIBRARY = Path("mxacc_check/lib/libmxacc_check.so")
BLAS_LIBRARY = Path("mx/lib/libscipy_openblas.so")
BLAS_LICENSE = Path("mx/lib/LICENSE.openblas.txt")
HEADERS = Path("ffi/include")
# What other build systems find the package by, each from a template of the same name and ".in".
PACKAGE_FILES = (
    Path("ffi/lib/cmake/mxffi/mxffi-config.cmake"),
    Path("ffi/lib/cmake/mxffi/mxffi-config-version.cmake"),
    Path("ffi/lib/pkgconfig/mxffi.pc"),
)

# What Cython's own code triggers and our headers do not rely on being told about.
_CYTHON_QUIET = (
    "-Wno-unused-function",
    "-Wno-missing-field-initializers",
    "-Wno-cast-function-type",
    "-Wno-deprecated-declarations",
)


# Outside the operators, loops run over a few arguments or dimensions: preparing a vector loop, or
# calling memcpy, takes longer than the loop.
_SHORT_LOOPS = ("-fno-tree-vectorize", "-fno-tree-loop-distribute-patterns")


# A product and a sum round twice on every processor, also where one instruction could do both.
_SAME_EVERYWHERE = ("-ffp-contract=off",)

# Nobody asks the processor what an operation on floats met, so that the compiler may do
# one for an element whose result is not taken. Results are the same.
_NO_FLAGS_OF_FLOATS = ("-fno-trapping-math",)


@dataclass(frozen=True)
class Target:
    """A shared object, or a program, at `output` under the folder of the Python packages.

    `rpath` entries are relative to the folder of the output. `exports` are the patterns of the
    symbols that can be seen from outside.
    """

    output: Path
    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    system_include_dirs: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    links: tuple[Path, ...] = ()
    rpath: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    is_extension: bool = False
    is_program: bool = False


def _sources(root: Path, folder: str) -> tuple[Path, ...]:
    return tuple(sorted(path.relative_to(root) for path in (root / folder).rglob("*.cc")))


def cython_modules(root: Path) -> dict[str, Path]:
    """The extension modules by their dotted names: every .pyx in a `_cython` folder is one."""
    packages = root / PYTHON_ROOT
    return {
        ".".join(path.relative_to(packages).with_suffix("").parts): path.relative_to(root)
        for path in sorted(packages.glob("*/_cython/*.pyx"))
    }


def _libraries(root: Path, release: str) -> list[Target]:
    include_dirs = (Path("include"), Path("src"))
    return [
        Target(
            output=RUNTIME_LIBRARY,
            sources=(*_sources(root, "src/runtime"), *_sources(root, "src/acc")),
            include_dirs=include_dirs,
            flags=(f'-DMXNET_RELEASE="{release}"', *_SHORT_LOOPS),
            # Threads call it when they end, be it after a dlclose.
            link_flags=("-Wl,-Bsymbolic-functions", "-Wl,-z,nodelete"),
            exports=("MXNet*",),
        ),
        Target(
            output=OPERATOR_LIBRARY,
            sources=tuple(
                source
                for folder in ("src/op", "src/graph", "src/api")
                for source in _sources(root, folder)
            ),
            include_dirs=include_dirs,
            system_include_dirs=(_blas_include_dir(),),
            links=(RUNTIME_LIBRARY,),
            rpath=("../../ffi/lib",),
            flags=(*_SAME_EVERYWHERE, *_NO_FLAGS_OF_FLOATS),
            link_flags=("-ldl",),
            exports=("MXNetLibraryInit",),
        ),
        Target(
            output=ACC_SERVER,
            sources=_sources(root, "src/acc_server"),
            include_dirs=include_dirs,
            links=(RUNTIME_LIBRARY,),
            rpath=("",),
            is_program=True,
        ),
        Target(
            output=CHECK_LIBRARY,
            sources=_sources(root, "src/mxacc_check"),
            include_dirs=include_dirs,
            exports=("mxacc_check_*",),
        ),
    ]


def _extension(name: str, source: Path) -> Target:
    import numpy

    folder = Path(*name.split(".")[:-1])
    module = name.rpartition(".")[2]
    up = "/".join(".." for _ in folder.parts)
    return Target(
        output=folder / (module + sysconfig.get_config_var("EXT_SUFFIX")),
        sources=(source,),
        # Those of mx include headers of ffi's.
        include_dirs=(Path("include"), source.parent, Path("python/ffi/_cython")),
        system_include_dirs=(Path(sysconfig.get_paths()["include"]), Path(numpy.get_include())),
        flags=(*_CYTHON_QUIET, *_SHORT_LOOPS),
        links=(RUNTIME_LIBRARY,),
        rpath=(f"{up}/{RUNTIME_LIBRARY.parent}",),
        exports=(f"PyInit_{module}",),
        is_extension=True,
    )


def _blas_include_dir() -> Path:
    import scipy_openblas32

    return Path(scipy_openblas32.get_include_dir())


def blas_files() -> dict[Path, Path]:
    """The files of the BLAS that go with the packages: where each goes, and where it is."""
    from importlib import metadata

    import scipy_openblas32

    distribution = metadata.distribution("scipy-openblas32")
    licenses = [file for file in distribution.files or () if file.name == "LICENSE.txt"]
    library = Path(scipy_openblas32.get_lib_dir()) / BLAS_LIBRARY.name
    return {BLAS_LIBRARY: library, BLAS_LICENSE: Path(str(licenses[0].locate()))}


def _file_of(package: str, name: str) -> Path:
    """A file that an installed package has, by the end of its path; RuntimeError without it."""
    from importlib import metadata

    try:
        files = metadata.distribution(package).files or []
        found = next(file for file in files if file.as_posix().endswith(name))
    except (metadata.PackageNotFoundError, StopIteration):
        text = f"building mxffi needs {name} of the package {package}"
        raise RuntimeError(f"{text}; python -m pip install {package}") from None
    return Path(str(found.locate())).resolve()


def _onednn_libraries(root: Path) -> list[Target]:
    """What calls oneDNN, of which there are packages for this kind of processor alone."""
    if platform.machine() != "x86_64":
        return []
    header = _file_of("onednn-devel-cpu-gomp", "include/oneapi/dnnl/dnnl.hpp")
    return [
        Target(
            output=ONEDNN_LIBRARY,
            sources=_sources(root, "src/onednn"),
            include_dirs=(Path("include"), Path("src")),
            system_include_dirs=(header.parents[2],),
            links=(RUNTIME_LIBRARY, _file_of("onednn-cpu-gomp", "libdnnl.so.3")),
            rpath=("../../ffi/lib",),
            link_flags=("-ldl",),
            # For accelerators that compute with oneDNN, too.
            exports=("mxnet_onednn_share_threads",),
        )
    ]


def targets(root: Path, release: str) -> list[Target]:
    """What is compiled, each after what it links to: all that is of the packages asked for."""
    packages = os.environ.get("MXFFI_PACKAGES", "ffi mx mxacc_check").split()
    extensions = [_extension(name, source) for name, source in cython_modules(root).items()]
    everything = [*_libraries(root, release), *_onednn_libraries(root), *extensions]
    return [target for target in everything if target.output.parts[0] in packages]
