"""Shared libraries."""

from __future__ import annotations

from ._cmake import config
from ._deployment import Build, Deployment


class Shared(Deployment):
    """A .so with its header."""

    name = "shared"
    description = "lib<name>.so with a header and a package for CMake"

    def write(self, build: Build) -> list[str]:
        """Compiles and links."""
        toolchain, library = build.toolchain(), f"lib{build.name}.so"
        objects = toolchain.compile(build.write_sources(), build.folder)
        toolchain.link(objects, library, build.folder)
        cmake = build.write(f"{build.name}Config.cmake", config(build.name, library, "SHARED"))
        return [library, *build.beside(), cmake]


DEPLOYMENT = Shared()
