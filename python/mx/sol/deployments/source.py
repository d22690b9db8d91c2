"""Source code."""

from __future__ import annotations

from ._cmake import lists
from ._deployment import Build, Deployment


class Source(Deployment):
    """C that the user compiles."""

    name = "source"
    description = "<name>.c with a header and a CMakeLists.txt"

    def write(self, build: Build) -> list[str]:
        """Writes the sources; nothing is compiled."""
        sources = build.write_sources()
        files = [*sources, *build.beside()]
        if len(sources) > 1:
            files.append(f"{build.name}_weights.bin")
        return [*files, build.write("CMakeLists.txt", lists(build.name, sources, build.target))]


DEPLOYMENT = Source()
