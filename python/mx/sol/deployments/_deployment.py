"""What a kind of deployment is, and what it works with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from ..backends.gen import Target
from ._header import header
from ._interface import Interface
from ._program import Program
from ._source import source
from ._toolchain import Toolchain
from ._weights import assembler, content, file_bytes


@dataclass(frozen=True)
class Build:
    """One model on its way into files."""

    program: Program
    interface: Interface
    target: Target
    jit: str | None
    version: str
    folder: Path  # a temporary one: what is returned by its name in there is kept

    @property
    def name(self) -> str:
        """What names of files begin with."""
        return self.interface.lib_name

    def toolchain(self) -> Toolchain:
        """The compiler. JitError where there is none."""
        return Toolchain.find(self.jit, self.target)

    def write_sources(self) -> list[str]:
        """Writes header, source and weights; returns the names of what is to be compiled."""
        self.write(f"{self.name}.h", header(self.interface))
        self.write(f"{self.name}.c", source(self.program, self.interface, self.target))
        if not self.interface.is_inside:
            self.write(f"{self.name}.weights", file_bytes(self.program))
        elif self.program.weight_bytes:
            self.write(f"{self.name}_weights.bin", content(self.program))
            text = assembler(f"{self.interface.func_name}_weights", f"{self.name}_weights.bin")
            self.write(f"{self.name}_weights.S", text)
            return [f"{self.name}.c", f"{self.name}_weights.S"]
        return [f"{self.name}.c"]

    def beside(self) -> list[str]:
        """The names of the files that every library comes with."""
        return [f"{self.name}.h", *([] if self.interface.is_inside else [f"{self.name}.weights"])]

    def write(self, name: str, content: str | bytes) -> str:
        """Writes a file of the folder; returns its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name


class Deployment(ABC):
    """A plugin: one kind of files that a model is made into."""

    name: str
    description: str

    @abstractmethod
    def write(self, build: Build) -> list[str]:
        """Writes the files into the build's folder; returns the names of those to keep."""

    def missing(self) -> str:
        """What has to be installed for it, "" where all is there."""
        return ""
