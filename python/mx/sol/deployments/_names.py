"""Names in C of what models call otherwise, and its types."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable, Sequence

from ._reserved import is_reserved

# What each data type is in C; bool is a byte of 0 or 1, and half precision the bits.
C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}

_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue
    decltype default delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned
    using virtual void volatile while xor xor_eq
    """.split()
)


# Headers of C and POSIX: a file NAME.h in the folder of a program's headers would be found instead.
_HEADERS = frozenset(
    """
    aio alloca assert byteswap complex cpio ctype dirent dlfcn elf endian errno error fcntl fenv
    float fmtmsg fnmatch ftw getopt glob grp iconv ifaddrs inttypes iso646 langinfo libgen limits
    link locale malloc math memory monetary mqueue ndbm netdb nl_types poll pthread pty pwd regex
    sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbit stdbool stdckdint
    stddef stdint stdio stdlib stdnoreturn string strings stropts syslog tar termios tgmath
    threads time trace uchar ucontext ulimit unistd utime utmpx wait wchar wctype wordexp
    """.split()
)

# Libraries of C: a libNAME in the folder of a program's libraries would be found instead, by -lNAME
# and, where LD_LIBRARY_PATH names the folder, by every program.
_LIBRARIES = frozenset(
    "anl asan atomic c crypt dl gcc gcc_s gomp m mvec nsl pthread resolv rt ubsan util".split()
)

# What a package of Python would hide, or never be found behind; its own module needs NumPy.
_MODULES = frozenset(name.lower() for name in (*sys.stdlib_module_names, "numpy"))


def check_library(parameter: str, name: object, in_python: bool = False) -> str:
    """The name, if it can be one in C that hides no header and no library, and one of a package of
    Python that hides no module; TypeError or ValueError if not."""
    found = check_name(parameter, name, in_python)
    if found.lower() in _HEADERS | _LIBRARIES:
        raise ValueError(
            f"sol.deploy: {parameter}: expected a name that no header and no library of C has, got"
            f" {name!r}"
        )
    if in_python and found.lower() in _MODULES:
        raise ValueError(
            f"sol.deploy: {parameter}: expected a name that no module of Python has, nor the"
            f" package numpy, got {name!r}"
        )
    return found


def library_name(text: str, in_python: bool = False) -> str:
    """A name for files of a model, made of what it is called, that `check_library` takes."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
    if not name[:1].isalpha():
        return f"model_{name}".rstrip("_")
    taken = _HEADERS | _LIBRARIES | _KEYWORDS
    if in_python:
        taken |= _MODULES | frozenset(keyword.kwlist)
    return f"{name}_model" if name in taken else name


def check_name(parameter: str, name: object, in_python: bool = False) -> str:
    """The name, if it can be one in C, and in Python; TypeError or ValueError if not."""
    if not isinstance(name, str):
        raise TypeError(f"sol.deploy: {parameter}: expected a text, got {type(name).__name__}")
    is_taken = name in _KEYWORDS or (in_python and keyword.iskeyword(name))
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is None or is_taken:
        which = "C and Python have" if in_python else "C has"
        raise ValueError(
            f"sol.deploy: {parameter}: expected a name as {which} them, of letters, digits and"
            f" underscores, got {name!r}"
        )
    return name


def check_function(parameter: str, name: object, in_python: bool = False) -> str:
    """The name, if a function in C can have it beside libc, libm and the generated source's;
    TypeError or ValueError if not."""
    found = check_name(parameter, name, in_python)
    if is_reserved(found):
        raise ValueError(
            f"sol.deploy: {parameter}: expected a name that is not one of libc, libm or the"
            f" generated source, got {name!r}"
        )
    return found


def identifier(text: str) -> str:
    """A name in C that reads like any text; other characters become underscores."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"v_{name}".rstrip("_")


def shape_text(shape: Sequence[int]) -> str:
    """A shape in a name: 1x3x224x224."""
    return "x".join(map(str, shape)) if shape else "scalar"


def unique(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names, those that came before with a number behind."""
    seen, found = set(taken), []
    for name in names:
        fresh, number = name, 2
        while fresh in seen:
            fresh, number = f"{name}_{number}", number + 1
        seen.add(fresh)
        found.append(fresh)
    return found
