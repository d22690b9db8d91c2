"""Function objects: calling, keywords, description, behaviour as a Python function."""

import inspect
import pydoc
import rlcompleter

import numpy
import pytest

import ffi
from ffi._parameters import PARAM_OPTIONAL as OPTIONAL
from ffi._parameters import PARAM_VARIADIC as VARIADIC
from ffi.description import FunctionInfo, ParamInfo

KEYWORDS = ffi.get_global_func("testing.keywords")
FRONT_END = 4


class ComparesLikeAnArray:
    """What == returns has no truth value."""

    def __eq__(self, other):
        return numpy.ones(2) == 1

    def __repr__(self):
        return "many"


@pytest.fixture
def front_end(api, register):
    """A function whose description has parameters for people only: shape, dtype, order, ctx."""
    raw = {
        "name": "tests.create",
        "doc": "Creates.",
        "returns": "tuple",
        "file": None,
        "line": 0,
        "described": True,
        "release_lock_bytes": -1,
        "params": [
            ("shape", "int", "Extents.", 0, None),
            ("dtype", "DTypeLike | None", "Element type.", OPTIONAL, None),
            ("order", "str", "Only C.", OPTIONAL | FRONT_END, "C"),
            ("ctx", "Context | None", None, OPTIONAL, None),
        ],
    }

    def create(shape, dtype, ctx):
        return shape, dtype, ctx

    api.register_global("tests.create", api.convert_function(create, "tests.create", raw), True)
    yield ffi.get_global_func("tests.create")
    ffi.remove_global_func("tests.create")


@pytest.mark.parametrize(
    ("args", "kwargs", "result"),
    [
        ((1,), {}, (1, 2, 3, None)),
        ((1, 5), {}, (1, 5, 3, None)),
        ((1, 5, 6, 7), {}, (1, 5, 6, 7)),
        ((1,), {"b": 5}, (1, 5, 3, None)),
        ((1,), {"c": 5}, (1, 2, 5, None)),
        ((1,), {"d": 5}, (1, 2, 3, 5)),
        ((), {"d": 4, "c": 3, "b": 2, "a": 1}, (1, 2, 3, 4)),
        ((), {"a": 1}, (1, 2, 3, None)),
        ((1, 2), {"d": (3,)}, (1, 2, 3, (3,))),
        ((1, None), {}, (1, None, 3, None)),
    ],
    ids=repr,
)
def test_keywords(args, kwargs, result):
    assert KEYWORDS(*args, **kwargs) == result


def test_keyword_that_is_not_interned():
    assert KEYWORDS(**{"".join(["", "a"]): 1, str(b"d", "ascii"): 4}) == (1, 2, 3, 4)


@pytest.mark.parametrize("count", [0, 1, 11, 12, 13, 40, 1000])
def test_number_of_arguments(count, register):
    function = register("tests.count", lambda *args: args)
    assert function(*range(count)) == tuple(range(count))
    assert ffi.get_global_func("testing.nop")(*range(count)) is None


@pytest.mark.parametrize(
    ("args", "kwargs", "result"),
    [
        ((3,), {}, (3, None, None)),
        ((3, "f4", "C"), {}, (3, "f4", None)),
        ((3, "f4", "C", 1), {}, (3, "f4", 1)),
        ((3,), {"ctx": 1}, (3, None, 1)),
        ((3,), {"order": "C", "dtype": 2}, (3, 2, None)),
        ((), {"shape": 3, "ctx": 1, "order": "C"}, (3, None, 1)),
    ],
    ids=repr,
)
def test_front_end(front_end, args, kwargs, result):
    assert front_end.front_end()(*args, **kwargs) == result


@pytest.mark.parametrize(
    ("args", "kwargs", "cls", "message"),
    [
        (
            (3, None, "F"),
            {},
            NotImplementedError,
            "tests.create: argument 2 ('order') supports only 'C', got 'F'",
        ),
        (
            (3,),
            {"order": 1},
            NotImplementedError,
            "tests.create: argument 2 ('order') supports only 'C', got 1",
        ),
        ((3, 1, "C", 2, 5), {}, TypeError, "tests.create: expected 1 to 4 arguments, got 5"),
        (
            (3, 1, ComparesLikeAnArray()),
            {},
            NotImplementedError,
            "tests.create: argument 2 ('order') supports only 'C', got many",
        ),
        (
            (3,),
            {"device": 1},
            TypeError,
            "tests.create: unexpected keyword argument 'device'; "
            "its parameters are shape, dtype, order, ctx",
        ),
        (
            (3, 1, "C", 2),
            {"ctx": 1},
            TypeError,
            "tests.create: argument 3 ('ctx') was given by position and by keyword",
        ),
    ],
)
def test_front_end_rejection(front_end, args, kwargs, cls, message):
    with pytest.raises(cls) as caught:
        front_end.front_end()(*args, **kwargs)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "args", "where"),
    [
        ("ffi.echo", (1, object()), "argument 1 ('args') has"),
        ("ffi.echo", (1, 2, object()), "argument 2 ('args') has"),
        ("testing.dtype", (1, object()), "argument 1 has"),
        ("testing.keywords", (1, 2, 3, 4, object()), "argument 4 has"),
    ],
    ids=str,
)
def test_arguments_without_a_name(name, args, where):
    with pytest.raises(TypeError) as caught:
        ffi.get_global_func(name)(*args)
    assert str(caught.value).startswith(f"{name}: {where} unsupported type object")


@pytest.mark.parametrize("cls", [ffi.ObjectBase, ffi.NDArray, ffi.Function, ffi.Opaque])
@pytest.mark.parametrize("args", [(), (1,), (1, 2, 3)], ids=str)
def test_objects_are_not_made_by_their_class(cls, args):
    with pytest.raises(TypeError, match=f"{cls.__name__} objects come from functions"):
        cls(*args)


def test_body_does_not_know_front_end_parameters(front_end):
    assert front_end(3, 4, 5) == (3, 4, 5)
    with pytest.raises(TypeError, match="its parameters are shape, dtype, ctx"):
        front_end(3, order="C")


@pytest.mark.parametrize(
    ("shown", "names"),
    [
        (lambda function: function, ["shape", "dtype", "ctx"]),
        (lambda function: function.front_end(), ["shape", "dtype", "order", "ctx"]),
    ],
    ids=["body", "front end"],
)
def test_signature_of_a_front_end(front_end, shown, names):
    function = shown(front_end)
    assert list(inspect.signature(function).parameters) == names
    assert [line.split(" ")[0] for line in function.__doc__.splitlines() if " : " in line] == names
    assert function.name == "tests.create"


def test_signature():
    text = "(a: int, b: int = 2, c: int = 3, d: Any = None) -> tuple[Any, ...]"
    assert str(inspect.signature(KEYWORDS)) == text
    assert str(inspect.signature(ffi.get_global_func("testing.nop"))) == "(*args: Any) -> None"


def test_signature_of_an_undescribed_function(register):
    function = register("tests.undescribed", lambda **kwargs: None)
    assert str(inspect.signature(function)) == "(*args)"


def test_functions_are_of_the_class_that_converts_arguments():
    """Not of a class of Python's derived from it, whose calls would take longer."""
    assert type(KEYWORDS) is ffi.Function
    assert [cls.__name__ for cls in ffi.Function.__mro__] == [
        *("Function", "FunctionBase", "ObjectBase", "object")
    ]


def test_the_class_of_functions_describes_itself():
    assert str(inspect.signature(ffi.Function)) == "(*args, **kwargs)"
    assert ffi.Function.__doc__.startswith("A function that C++ and Python can both call")
    assert "A function that C++" in pydoc.plain(pydoc.render_doc(ffi.Function))


def test_every_public_name_can_be_completed():
    completed = rlcompleter.Completer({"ffi": ffi}).attr_matches("ffi.")
    assert set(ffi.__all__) <= {name.removeprefix("ffi.").rstrip("()") for name in completed}
    assert rlcompleter.Completer({"ffi": ffi}).attr_matches("ffi.Func") == ["ffi.Function("]


def test_docstring():
    doc = inspect.getdoc(KEYWORDS)
    lines = doc.splitlines()
    assert lines[0] == "Takes arguments by position or keyword and returns them as a tuple."
    assert lines[2:6] == ["Parameters", "----------", "a : int", "    Required."]
    assert "b : int, default 2" in lines
    assert lines[-3:] == ["Returns", "-------", "tuple[Any, ...]"]
    assert "keywords(a: int" in pydoc.plain(pydoc.render_doc(KEYWORDS))


def test_info():
    info = KEYWORDS.info
    assert isinstance(info, FunctionInfo)
    assert (info.name, info.described, info.returns) == (
        "testing.keywords",
        True,
        "tuple[Any, ...]",
    )
    assert info.file.endswith("library/functions.cc")
    assert info.line > 1
    assert info.params[1] == ParamInfo("b", "int", "Optional.", OPTIONAL, 2)
    assert [param.name for param in info.params] == ["a", "b", "c", "d"]
    assert info == ffi.get_global_func("testing.keywords").info
    assert hash(info) == hash(ffi.get_global_func("testing.keywords").info)
    assert "name='testing.keywords'" in repr(info)


@pytest.mark.parametrize("change", [lambda i: setattr(i, "name", ""), lambda i: delattr(i, "name")])
def test_info_is_immutable(change):
    with pytest.raises(AttributeError, match="immutable"):
        change(KEYWORDS.info)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("name", "testing.keywords"),
        ("__name__", "keywords"),
        ("__qualname__", "keywords"),
        ("__module__", "ffi"),
        ("release_gil_bytes", -1),
        ("type_key", "ffi.Function"),
        ("type_index", 1),
        ("is_front_end", False),
    ],
)
def test_attributes(attribute, value):
    assert getattr(KEYWORDS, attribute) == value


def test_renamed_function():
    function = ffi.get_global_func("testing.keywords").front_end()
    function.__module__, function.__name__ = "mx.np", "kw"
    assert (function.__module__, function.__name__) == ("mx.np", "kw")
    assert KEYWORDS.__module__ == "ffi"


def test_repr():
    assert repr(KEYWORDS) == "<ffi.Function testing.keywords>"


def test_function_on_a_class_is_a_method():
    class Holder:
        echo = ffi.get_global_func("ffi.echo")

        def __len__(self):
            return 0

    assert Holder.echo(5) == 5
    with pytest.raises(TypeError, match=r"argument 0 \('value'\) has unsupported type .*Holder"):
        Holder().echo()


def test_function_is_not_made_directly():
    with pytest.raises(TypeError):
        ffi.Function()


def plain_function(a, b: int = 2, c: "float" = 1.5, *rest) -> str:
    """Does something.

    In detail.
    """
    return repr((a, b, c, rest))


PLAIN_PARAMS = (
    ParamInfo("a", None, None, 0, None),
    ParamInfo("b", "int", None, OPTIONAL, 2),
    ParamInfo("c", "float", None, OPTIONAL, 1.5),
    ParamInfo("rest", None, None, VARIADIC, None),
)


def test_description_of_a_python_function(register):
    info = register("tests.plain", plain_function).info
    assert info.params == PLAIN_PARAMS
    assert (info.returns, info.doc) == ("str", "Does something.\n\nIn detail.")


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((1,), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"c": 4.0}), ((), {"a": 1, "b": 3})],
    ids=repr,
)
def test_registered_function_is_called_like_the_function(register, args, kwargs):
    registered = register("tests.plain", plain_function)
    assert registered(*args, **kwargs) == plain_function(*args, **kwargs)


def with_keywords(**kwargs):
    return kwargs


def with_a_tuple(a, axes=(0, 1)):
    return a, axes


def with_a_large_default(a, b=2**70):
    return a, b


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (with_keywords, ()),
        (with_a_tuple, (1,)),
        (with_a_large_default, ()),
        (numpy.ndim, (1,)),
        (len, ("abc",)),
        (dict, ()),
        ("abc".find, ("b",)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_functions_that_stay_undescribed(register, function, args):
    registered = register("tests.function", function)
    assert not registered.info.described
    try:
        expected = function(*args)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            registered(*args)
        assert str(caught.value) == str(error)
    else:
        if not isinstance(expected, (dict, int)) or not isinstance(expected, int):
            expected = plain_result(expected)
        assert registered(*args) == expected
    with pytest.raises(TypeError, match=r"tests\.function: takes no keyword arguments"):
        registered(*args, keyword=1)


def plain_result(value):
    """A tuple is a tuple still; 2**70 does not cross the boundary."""
    return ffi.convert(value)


@pytest.mark.parametrize("threshold", [-1, 0, 1, 16, 10**9])
@pytest.mark.parametrize("size", [0, 1, 2, 1000])
def test_release_of_the_gil(api, threshold, size):
    """With the GIL released around the call or not, the callback has it and the result is right."""
    raw = {**KEYWORDS._raw_info(), "file": None, "release_lock_bytes": threshold}
    total = api.convert_function(lambda a, *others: numpy.asarray(a).sum(), "tests.total", raw)
    assert total.release_gil_bytes == threshold
    assert total(numpy.ones(size)) == total(a=ffi.from_dlpack(numpy.ones(size))) == size
    with pytest.raises(ZeroDivisionError):
        api.convert_function(lambda *args: 1 / 0, "tests.fails", raw)(numpy.ones(size))


@pytest.mark.parametrize("count", [13, 63, 64])
def test_many_parameters(count, register):
    names = [f"p{i}" for i in range(count)]
    namespace = {}
    exec(f"def function({', '.join(names[:-1])}, {names[-1]}=7): return {names[-1]}, p0", namespace)
    function = register("tests.many", namespace["function"])
    assert function(*range(count)) == (count - 1, 0)
    assert function(*range(count - 1)) == (7, 0)
    assert function(**{name: i for i, name in enumerate(names)}) == (count - 1, 0)
    with pytest.raises(TypeError, match=f"got {count + 1}"):
        function(*range(count + 1))


def test_more_parameters_than_can_be_described():
    namespace = {}
    exec(f"def function({', '.join(f'p{i}' for i in range(65))}): return p0", namespace)
    with pytest.raises(ValueError, match="tests.many: 65 parameters .* at most 64"):
        ffi.register_func("tests.many", namespace["function"])
    assert ffi.get_global_func("ffi.call")(namespace["function"], *range(65)) == 0


def test_texts_are_read_where_they_lie():
    join = ffi.get_global_func("testing.join")
    assert join(["a", "ö", ""]) == join(("a", "ö")) == join(ffi.Array(["a", "ö"])) == "aö"
    with pytest.raises(TypeError, match="expected list of str, got list: item 1 is int"):
        join(["a", 1])
