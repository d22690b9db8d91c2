"""The page and the JSON of the operators say what the registry says, and what libraries get."""

import json
import runpy
from pathlib import Path

import pytest

import ffi
import mx
from tests import library

ROOT = Path(__file__).resolve().parents[2]


def test_they_are_what_the_tool_writes():
    tool = runpy.run_path(str(ROOT / "tools" / "write_operators.py"))
    for path, text in tool["written"]().items():
        found = path.read_text(encoding="utf-8")
        assert found == text, f"{path} is old: python tools/write_operators.py"


def test_the_package_has_the_json():
    table = json.loads(Path(mx.__file__).with_name("operators.json").read_text(encoding="utf-8"))
    (add,) = [operator for operator in table["operators"] if operator["name"] == "add"]
    assert [parameter["name"] for parameter in add["parameters"]] == ["x1", "x2", "out"]
    assert add["parameters"][2]["role"] == "output"
    assert add["version"] == mx.op.version(mx.np.add) == 1


def test_an_operator_tells_the_version_of_its_meaning():
    library.load()
    operator = mx.op.register("tests.of_version", infer=lambda a: a, version=3)(lambda a: a)
    ffi.remove_global_func("tests.of_version")
    assert mx.op.version(operator) == 3
    assert mx.op.version(ffi.get_global_func("testing.zeroed_view")) == 2


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: mx.op.version(3), TypeError, "version: expected an operator, got int"),
        (
            lambda: mx.op.version(ffi.get_global_func("testing.roles")),
            NotImplementedError,
            "testing.roles: it is no operator, and has no version",
        ),
        (
            lambda: mx.op.register("tests.of_version", infer=abs, version=0)(lambda a: a),
            ValueError,
            "tests.of_version: the version of an operator is 0, expected at least 1",
        ),
    ],
)
def test_what_has_no_version(call, kind, text):
    library.load()
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("sum", ["array", "axes", "dtype", "out", "attribute"]),
        ("concatenate", ["arrays", "axes"]),
        ("zeros", ["shape", "dtype", "attribute", "context"]),
    ],
)
def test_the_registry_tells_roles(name, roles):
    assert [param.role for param in getattr(mx.np, name).info.params] == roles


@pytest.mark.parametrize(
    ("annotation", "roles", "role"),
    [
        (mx.np.ndarray, {}, "array"),
        ("mx.np.ndarray | None", {}, "array"),
        (list[mx.np.ndarray], {}, "arrays"),
        ("list[mx.np.ndarray]", {}, "arrays"),
        (dict[str, mx.np.ndarray], {}, "attribute"),
        ("int", {}, "attribute"),
        ("Literal['ndarray']", {"a": "attribute"}, "attribute"),
        ("ArrayLike", {"a": "array"}, "array"),
        ("ArrayLike", {"a": "arrays"}, "arrays"),
        (int, {"a": "array"}, "array"),
    ],
    ids=str,
)
def test_annotations_tell_roles(annotation, roles, role):
    def body(a):
        return a

    body.__annotations__["a"] = annotation
    operator = mx.op.register("tests.of_role", infer=lambda a: a, roles=roles)(body)
    ffi.remove_global_func("tests.of_role")
    assert operator.info.params[0].role == role


Arrays = list[mx.np.ndarray]


def unknown(a: "ArrayLike"):  # noqa: F821  nothing imports it
    """Has an annotation that nobody can evaluate."""


def twice(a: Arrays, b: Arrays):
    """Takes two sequences."""


def optional(a: Arrays | None = None):
    """Takes a sequence or none."""


@pytest.mark.parametrize(
    ("body", "roles", "kind", "text"),
    [
        (unknown, {}, TypeError, "whether 'a' takes an array .* 'ArrayLike' is not defined"),
        (unknown, {"b": "array"}, ValueError, "roles has 'b', which is no parameter"),
        (unknown, {"a": "out"}, ValueError, r"roles\['a'\] expected one of .* got 'out'"),
        (twice, {}, TypeError, "'a' and 'b' take several arrays each"),
        (optional, {}, TypeError, "'a' takes several arrays, and so can have no default"),
    ],
)
def test_what_roles_are_rejected(body, roles, kind, text):
    with pytest.raises(kind, match=f"tests.of_role: .*{text}"):
        mx.op.register("tests.of_role", infer=lambda a: a, roles=roles)(body)
    assert "tests.of_role" not in ffi.list_global_func_names()
