"""Stubs of what is registered: type expressions, whole files, the command line."""

import ast

import pytest

import ffi
from ffi import stubgen
from ffi.__main__ import main as package_main
from ffi.stubgen.classes import list_class_keys
from ffi.stubgen.functions import default_text
from ffi.stubgen.modules import OVERLOADED
from tests.native import compile_library


@pytest.mark.parametrize(
    ("described", "written", "imports"),
    [
        (None, "Any", ["from typing import Any"]),
        ("int | None", "int | None", []),
        ("tuple[int, ...]", "tuple[int, ...]", []),
        ("Sequence[float]", "Sequence[float]", ["from collections.abc import Sequence"]),
        ("Array", "ffi.Array", ["import ffi"]),
        ("ffi.Array[Context]", "ffi.Array[ffi.Context]", ["import ffi"]),
        ("dtype", "numpy.dtype[Any]", ["import numpy", "from typing import Any"]),
        ("ArrayLike", "ArrayLike", ["from ffi.typing import ArrayLike"]),
        (
            "Callable[..., Any]",
            "Callable[..., Any]",
            ["from collections.abc import Callable", "from typing import Any"],
        ),
        ("Literal['int', 'x']", "Literal['int', 'x']", ["from typing import Literal"]),
        ("demo.Mode | int", "Mode | int", []),
        ("bool", "_bool", ["from builtins import bool as _bool"]),
        ("Iterable", "_Iterable", ["from collections.abc import Iterable as _Iterable"]),
        ("Unheard", "Any", ["from typing import Any"]),
        ("unheard.Of[int]", "Any", ["from typing import Any"]),
        ("not an expression", "Any", ["from typing import Any"]),
    ],
)
def test_expression(described, written, imports):
    expressions = stubgen.Expressions({"bool", "Iterable"}, {"demo.Mode": "Mode"})
    assert expressions.rewrite(described) == written
    assert expressions.imports() == imports


@pytest.mark.parametrize(
    ("default", "text"),
    [
        (None, "None"),
        (True, "True"),
        (-5, "-5"),
        (1.5, "1.5"),
        ("it's", '"it\'s"'),
        (float("inf"), "..."),
        (ffi.cpu(), "..."),
        (ffi.get_enum("testing.Mode").FAST, "..."),
    ],
    ids=repr,
)
def test_default(default, text):
    assert default_text(default) == text


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "testing.typed",
            [
                "def typed(shape: Sequence[int], names: Mapping[int, str], scale: float = 1.0, "
                "mode: str = 'fast', dtype: DTypeLike | None = None) -> tuple[Any, ...]: ..."
            ],
        ),
        ("testing.total", ["def total(first: int, *others: int) -> int: ..."]),
        (
            "testing.keyword_only",
            [
                "def keyword_only(a: int, *rest: int, scale: int = 2, "
                "offset: int | None = None) -> tuple[Any, ...]: ..."
            ],
        ),
        (
            "testing.mode",
            ["def mode(mode: Mode | Literal['FAST', 'EXACT', 'SLOW'] | int = ...) -> Mode: ..."],
        ),
        (
            "testing.overloaded",
            [
                "@overload",
                "def overloaded(a: int, b: int = 1) -> str: ...",
                "@overload",
                "def overloaded(x: float) -> str: ...",
                "@overload",
                "def overloaded(text: str, sep: str = ', ', *others: str) -> str: ...",
                "@overload",
                "def overloaded(values: Sequence[float]) -> str: ...",
                "@overload",
                "def overloaded(mode: Mode | Literal['FAST', 'EXACT', 'SLOW'] | int, "
                "flag: bool | None = None) -> str: ...",
            ],
        ),
    ],
)
def test_function(name, lines):
    expressions = stubgen.Expressions(own={"testing.Mode": "Mode"})
    info = ffi.get_global_func(name).info
    assert list(stubgen.function(info.name[8:], info, expressions, with_doc=False)) == lines


def by_name_only(a, *, b=1):
    '''Has "quotes", a \\ and """more""".'''
    return a, b


def undescribed(**kwargs):
    return kwargs


def test_module(register):
    register("tests_stub.by_name_only", by_name_only)
    register("tests_stub.undescribed", undescribed)
    register("tests_stub.deeper.of_numpy", lambda array: array)
    register("tests_stub.not-a-name", undescribed)
    names = [name for name in ffi.list_global_func_names() if name.startswith("tests_stub.")]
    made = stubgen.stubs(names, [])
    assert sorted(made) == ["tests_stub/__init__.pyi", "tests_stub/deeper.pyi"]
    text = made["tests_stub/__init__.pyi"]
    assert [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)] == [
        "by_name_only",
        "undescribed",
    ]
    assert "def by_name_only(a: Any, *, b: Any = 1) -> Any:" in text
    assert "def undescribed(*args: Any, **kwargs: Any) -> Any: ..." in text
    assert ast.get_docstring(ast.parse(text).body[1]) == by_name_only.__doc__
    assert OVERLOADED not in text


def test_enum_class():
    made = stubgen.stubs(["testing.mode"], ["testing.Mode", "testing.Color"])["testing.pyi"]
    classes = [node for node in ast.parse(made).body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in classes] == ["Mode", "Color"]
    assert "    FAST = 1\n    EXACT = 2\n    SLOW = -3\n" in made
    assert ast.get_docstring(classes[0]) == "How a result is rounded."


def test_command_that_writes(tmp_path, capsys):
    assert stubgen.main(["--prefix", "testing", "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'testing.pyi'}\n"
    text = (tmp_path / "testing.pyi").read_text()
    assert OVERLOADED in text and "def nop(*args: Any) -> None:" in text
    ast.parse(text)


@pytest.mark.parametrize("main", [stubgen.main, lambda given: package_main(["stubgen", *given])])
def test_command_that_prints(main, capsys):
    assert main(["--prefix", "ffi"]) == 0
    assert capsys.readouterr().out.startswith("# ffi/__init__.pyi\n# Written by")


@pytest.mark.parametrize(
    "lines",
    [
        "class Counter(ffi.Object):",
        "class NamedCounter(Counter):",
        'class Hidden(ffi.Object):\n    """Made by C++ only."""\n',
        "    def __init__(self, start: int = 0, name: str = 'counter') -> None: ...",
        "    value: int\n",
        "    @property\n    def is_positive(self) -> bool: ...",
        '    def add(self, by: int = 1) -> int:\n        """Counts on, and returns',
        "    @staticmethod\n    def of(values: Sequence[int]) -> Counter: ...",
        "    def __lt__(self, arg0: Counter) -> bool: ...",
        "    def __eq__(self, other: object, /) -> bool: ...",
        "    next: Node | None\n",
        "def count_on(counter: Counter, shared: Counter) -> Counter:",
    ],
)
def test_classes(lines):
    keys = [key for key in list_class_keys() if key.startswith("testing.")]
    assert lines in stubgen.stubs(["testing.count_on"], [], keys)["testing.pyi"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prefix", "nobody"], "stubgen: nothing is registered that a stub could describe\n"),
        (["/nowhere/lib.so"], "stubgen: "),
    ],
)
def test_command_that_fails(arguments, message, capsys):
    assert stubgen.main(arguments) == 1
    assert capsys.readouterr().err.startswith(message)


LIBRARY = """
#include <mxnet/runtime/enum.h>
namespace {
enum class Side { kLeft = 1, kRight };
MXNET_REGISTER_ENUM(Side, "tests_own.Side").value("LEFT", Side::kLeft).value("RIGHT", Side::kRight);
MXNET_REGISTER_API("tests_own.other")
    .describe("The other side.")
    .arg("side", Side::kLeft, "A side.")
    .set_body_typed([](Side side) { return side == Side::kLeft ? Side::kRight : Side::kLeft; });
}
"""


def test_library_of_a_user(tmp_path, capsys):
    library = compile_library(tmp_path, "own", LIBRARY, suffix=".cc")
    assert stubgen.main([str(library), "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'tests_own.pyi'}\n"
    text = (tmp_path / "tests_own.pyi").read_text()
    assert "class Side(IntEnum):" in text
    assert "def other(side: Side | Literal['LEFT', 'RIGHT'] | int = ...) -> Side:" in text
    module = ffi.load_library(library)
    assert module.Side is ffi.get_enum("tests_own.Side")
    assert module.other("LEFT") is module.Side.RIGHT
    assert {"Side", "other"} <= set(dir(module))
    assert not hasattr(module, "Front")
