"""Static libraries."""

from __future__ import annotations

from ._cmake import config
from ._deployment import Build, Deployment


class Static(Deployment):
    """An .a with its header."""

    name = "static"
    description = "lib<name>.a with a header and a package for CMake"

    def write(self, build: Build) -> list[str]:
        """Compiles and archives."""
        toolchain, library = build.toolchain(), f"lib{build.name}.a"
        objects = toolchain.compile(build.write_sources(), build.folder)
        toolchain.archive(objects, library, build.folder)
        cmake = build.write(f"{build.name}Config.cmake", config(build.name, library, "STATIC"))
        return [library, *build.beside(), cmake]


DEPLOYMENT = Static()
