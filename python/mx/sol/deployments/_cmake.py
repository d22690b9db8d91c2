"""What CMake needs to use what is deployed."""

from __future__ import annotations

from collections.abc import Sequence

from ..backends.gen import FLAGS, Target


def config(name: str, library: str, kind: str) -> str:
    """A package for find_package(<name>), with the imported target <name>::<name>."""
    return f"""\
# find_package({name} CONFIG) finds {library}; link with {name}::{name}.
if(NOT TARGET {name}::{name})
  add_library({name}::{name} {kind} IMPORTED)
  set_target_properties({name}::{name} PROPERTIES
    IMPORTED_LOCATION "${{CMAKE_CURRENT_LIST_DIR}}/{library}"
    INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_LIST_DIR}}"
    INTERFACE_LINK_LIBRARIES m)
endif()
"""


def lists(name: str, sources: Sequence[str], target: Target) -> str:
    """A CMakeLists.txt for add_subdirectory, with the target <name>, also as <name>::<name>."""
    flags = " ".join([*FLAGS, *target.flags])
    languages = "C ASM" if len(sources) > 1 else "C"
    return f"""\
cmake_minimum_required(VERSION 3.10)
project({name} LANGUAGES {languages})
add_library({name} {" ".join(sources)})
add_library({name}::{name} ALIAS {name})
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({name} PUBLIC m)
set_target_properties({name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
set_source_files_properties({name}.c PROPERTIES COMPILE_FLAGS "{flags}")
""" + (
        f"""\
set_source_files_properties({sources[1]} PROPERTIES
  COMPILE_FLAGS "-Wa,-I,${{CMAKE_CURRENT_SOURCE_DIR}}"
  OBJECT_DEPENDS "${{CMAKE_CURRENT_SOURCE_DIR}}/{name}_weights.bin")
"""
        if len(sources) > 1
        else ""
    )
