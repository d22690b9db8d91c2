"""The setuptools commands: build all targets and lay them out with the packages."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError

from .plan import Planner
from .steps import StepError, run
from .targets import (
    HEADERS,
    PACKAGE_FILES,
    PYTHON_ROOT,
    blas_files,
    cython_modules,
    targets,
)
from .toolchain import toolchain

ROOT = Path(__file__).resolve().parent.parent


def extension_modules() -> list[Extension]:
    """The extension modules as setuptools has to know them, to name the wheel's platform."""
    return [Extension(name, [str(path)]) for name, path in cython_modules(ROOT).items()]


def _install(source: Path, destination: Path) -> None:
    """Copies a file so that a process that has the old one open is not disturbed."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    temporary = destination.with_name(f".{destination.name}.{os.getpid()}")
    shutil.copy2(source, temporary)
    os.replace(temporary, destination)


class BuildPackages(build_py):  # type: ignore[misc]
    """Lays the Python files out in an empty folder: none of an earlier build gets into a wheel."""

    def run(self) -> None:
        """Empties build_lib, unless the packages stay in the source tree, and fills it."""
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildNative(build_ext):  # type: ignore[misc]
    """Builds into the packages in the source tree for an editable install, else into build_lib."""

    def run(self) -> None:
        """Compiles what has changed and installs every product; raises CompileError on failure."""
        tools = toolchain()
        built = targets(ROOT, self.distribution.get_version())
        blas = blas_files()
        planner = Planner(tools, _objects_folder(tools.variant), prebuilt=blas)
        try:
            run(planner.plan(built), cwd=ROOT, jobs=tools.jobs)
        except StepError as error:
            raise CompileError(str(error)) from None
        for target in built:
            _install(planner.products / target.output, self._packages / target.output)
        for product, source in blas.items():
            _install(source, self._packages / product)
        self._install_headers()
        self._install_package_files()

    @property
    def _packages(self) -> Path:
        in_place = self.inplace or self.editable_mode
        return ROOT / PYTHON_ROOT if in_place else Path(self.build_lib)

    def _install_headers(self) -> None:
        """Puts the op author's headers inside the package, or a link to them in the source tree."""
        destination = self._packages / HEADERS
        if self._packages == ROOT / PYTHON_ROOT:
            if not destination.is_symlink():
                destination.symlink_to(Path("..", "..", "include"))
        else:
            shutil.copytree(ROOT / "include", destination, dirs_exist_ok=True)

    def _install_package_files(self) -> None:
        """Writes what CMake and pkg-config look for; it names paths relative to itself."""
        templates = Path(__file__).parent / "package"
        for product in PACKAGE_FILES:
            text = (templates / f"{product.name}.in").read_text(encoding="utf-8")
            path = self._packages / product
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("@VERSION@", self.distribution.get_version()))

    def get_outputs(self) -> list[str]:
        """The files that this command leaves with the packages."""
        built = [target.output for target in targets(ROOT, self.distribution.get_version())]
        products = (*built, *blas_files(), *PACKAGE_FILES)
        return [str(self._packages / product) for product in products]

    def get_output_mapping(self) -> dict[str, str]:
        """Nothing: an editable install finds its files in the source tree, where they are built."""
        return {}


def _objects_folder(variant: str) -> Path:
    return Path("build", "native", f"{variant}-{sys.implementation.cache_tag}")
