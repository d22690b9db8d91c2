"""Deployed sources: clean for compilers and sanitizers, and in a root with nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Case, optimized
from .models import MODELS
from .programs import output_of, run, write_main

Deploy = Callable[..., Case]
STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]


def source_of(case: Case) -> Path:
    return next(path for path in case.deployed.files if path.suffix == ".c")


def compiler(name: str) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


# The analyzer does not end for mobile and unet within minutes, and takes vectors of transformer,
# bf16 and choice for numbers of two bits.
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("lenet", ["gcc", "-O1", "-fanalyzer"]),
        ("int8", ["gcc", "-O1", "-fanalyzer"]),
        ("attention", ["gcc", "-O1", "-fanalyzer"]),
        ("lstm", ["gcc", "-O1", "-fanalyzer"]),
        ("bf16", ["gcc", "-O2"]),
        ("residual", ["gcc", "-O1", "-fanalyzer"]),
        ("lenet", ["clang", "-O1"]),
        ("lenet", ["g++", "-x", "c++", "-fsyntax-only"]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_without_a_warning(deployed: Deploy, tmp_path: Path, name: str, command: list[str]) -> None:
    source = source_of(deployed(name, "source", target="c"))
    flags = [one for one in STRICT if command[0] != "g++" or "std" not in one]
    if command[0] == "g++":
        source = source.with_suffix(".h")
    run(
        [compiler(command[0]), *command[1:], *flags, "-c", source, "-o", tmp_path / "x.o"], tmp_path
    )


@pytest.mark.parametrize("name", MODELS)
def test_every_model_without_a_warning(deployed: Deploy, tmp_path: Path, name: str) -> None:
    source = source_of(deployed(name, "source"))
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-march=native"]
    run([compiler("gcc"), *flags, "-S", source, "-o", tmp_path / "x.s"], tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_with_sanitizers(deployed: Deploy, tmp_path: Path, name: str) -> None:
    case = deployed(name, "source")
    sources = [path for path in case.deployed.files if path.suffix in (".c", ".S")]
    main = write_main(case, name, tmp_path)
    # GCC 12 does not get through the vectors of 8 bits without optimizing them.
    level = "-O1" if name == "int8" else "-O0"
    flags = [level, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    native = ["-march=native", "-Wa,-I," + str(sources[0].parent)]
    folder = f"-I{sources[0].parent}"
    program = tmp_path / "program"
    run([compiler("gcc"), *flags, *native, folder, *sources, main, "-o", program, "-lm"], tmp_path)
    run([program], tmp_path)
    case.check(output_of(case, tmp_path))


def test_weights_of_bfloat16_take_half(deployed: Deploy) -> None:
    case = deployed("bf16", "source")
    assert case.deployed.weights_bytes < 2.1 * (32 * 33 + 3 * 132 * 128) + 4 * 128


def test_a_source_for_other_instructions_says_so(tmp_path: Path) -> None:
    from mx import sol

    made = sol.deploy(optimized("lenet")[0], "source", path=tmp_path, target="avx2")
    command = [compiler("gcc"), "-fsyntax-only", made.files[0]]
    done = subprocess.run(command, capture_output=True, text=True)
    if "-march=haswell" not in done.stderr:
        pytest.skip("no compiler for x86-64")
    assert "made for x86-64 with AVX2: compile with -march=haswell" in done.stderr


@pytest.mark.parametrize("name", ["lenet", "transformer"])
def test_in_an_empty_root(deployed: Deploy, tmp_path: Path, name: str) -> None:
    """The library runs where there is libc, libm, and nothing else."""
    case = deployed(name)
    library = case.deployed.files[0]
    root = tmp_path / "root"
    root.mkdir()
    main = write_main(case, name, root)
    flags = [f"-I{library.parent}", f"-L{library.parent}", f"-l{name}", "-lm", "-Wl,-rpath,/"]
    run([compiler("gcc"), main, "-o", root / "program", *flags], tmp_path)
    shutil.copy(library, root)
    needed = [run(["ldd", path], tmp_path) for path in (root / "program", library)]
    for line in "".join(needed).splitlines():
        path = next((word for word in line.split() if word.startswith("/")), None)
        if path is not None:
            assert Path(path).name.startswith(("libc.so", "libm.so", "ld-linux"))
            (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path[1:])
    enter = "import os, sys; os.chroot(sys.argv[1]); os.chdir('/'); os.execv('/program', ['p'])"
    command = [sys.executable, "-c", enter, root]
    if os.geteuid() != 0:
        command = ["unshare", "-r", *command]
        if subprocess.run(["unshare", "-r", "true"], capture_output=True).returncode != 0:
            pytest.skip("no namespaces for users here")
    run(command, tmp_path)
    case.check(output_of(case, root))
