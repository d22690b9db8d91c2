"""`mx.np` and `mx.npx` are the registry: signatures, help and names come from the registration."""

import copy
import inspect
import pickle
import pydoc
import subprocess
import sys
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest

import ffi
import mx
import mx._api_internal
from mx import _registry
from mx._registry import ALIASES
from tests.native import compile_library

FROM_REGISTRY = sorted(
    (module, name)
    for module in ("np", "npx")
    for name in getattr(mx, module).__all__
    if isinstance(getattr(getattr(mx, module), name, None), ffi.Function)
)
PREFIXES = {"np": "_npi.", "npx": "_npx."}
REQUIRED = [
    *(
        "array asarray zeros ones full empty arange linspace eye zeros_like ones_like full_like"
    ).split(),
    *("empty_like add subtract multiply divide power maximum minimum equal not_equal less").split(),
    *("less_equal greater greater_equal exp log sqrt abs negative tanh sum mean max").split(),
    *("min argmax prod reshape transpose concatenate stack where broadcast_to squeeze").split(),
    *("expand_dims dot matmul tensordot").split(),
]
# What NumPy has no function for.
EXTENSIONS = "erf log_softmax relu sigmoid softmax softsign".split()


@pytest.mark.parametrize(
    ("module", "name"), [("np", name) for name in REQUIRED] + [("npx", name) for name in EXTENSIONS]
)
def test_required_functions_are_there_and_are_the_registrys(module, name):
    namespace = getattr(mx, module)
    assert isinstance(getattr(namespace, name), ffi.Function)
    assert name in namespace.__all__


@pytest.mark.parametrize("name", EXTENSIONS)
def test_extensions_are_in_one_namespace(name):
    assert not hasattr(mx.np, name) and not hasattr(np, name)


def plain_signature(function):
    """Names and defaults, without types."""
    found = inspect.signature(function)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    return str(inspect.Signature(bare))


def test_signature_of_softmax():
    expected = "(data, axis=-1, temperature=None, dtype=None)"
    assert plain_signature(mx.npx.softmax) == plain_signature(mx.npx.log_softmax) == expected
    assert {"softmax", "log_softmax"} <= set(mx.npx.__all__)


def test_signature_of_zeros():
    assert plain_signature(mx.np.zeros) == "(shape, dtype=None, order='C', ctx=None)"
    assert mx.np.zeros.__name__ == "zeros"
    assert mx.np.zeros.__module__ == "mx.np"
    assert "Return a new array of given shape" in pydoc.plain(pydoc.render_doc(mx.np.zeros))


@pytest.mark.parametrize(("module", "name"), FROM_REGISTRY)
def test_every_function_is_described(module, name):
    function = getattr(getattr(mx, module), name)
    info = function.info
    assert info.name.startswith(PREFIXES[module])
    assert function.__module__ == f"mx.{module}"
    assert info.doc.strip()
    signature = inspect.signature(function)
    assert all(parameter.doc for parameter in info.params), name
    assert len(signature.parameters) == len(info.params)
    assert info.returns


@pytest.mark.parametrize("name", ["tensordot", "dot", "where", "arange", "linspace", "eye", "full"])
def test_parameters_are_named_as_numpys(name):
    numpys = {
        "tensordot": "a b axes",
        "dot": "a b",
        "where": "condition x y",
        "arange": "start stop step",
    }
    numpys |= {
        "linspace": "start stop num endpoint",
        "eye": "N M k",
        "full": "shape fill_value dtype",
    }
    names = list(inspect.signature(getattr(mx.np, name)).parameters)
    assert names[: len(numpys[name].split())] == numpys[name].split()


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_aliases(alias, name):
    assert getattr(mx.np, alias) is getattr(mx.np, name)
    assert callable(getattr(np, alias))


@pytest.mark.parametrize("name", ["pi", "e", "inf", "euler_gamma", "newaxis"])
def test_constants(name):
    assert getattr(mx.np, name) == getattr(np, name)


@pytest.mark.parametrize("name", ["float32", "int8", "uint64", "complex128", "bool_", "bool"])
def test_types(name):
    assert getattr(mx.np, name) is getattr(np, name)


@pytest.mark.parametrize("module", [mx.np, mx.npx])
def test_everything_listed_is_there(module):
    for name in module.__all__:
        getattr(module, name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert not {"getitem", "setitem"} & set(dir(module))


@pytest.mark.parametrize(("name", "prefix"), PREFIXES.items())
def test_an_operator_registered_later_is_found(name, prefix):
    module = getattr(mx, name)
    later = f"{prefix}registered_later"
    assert not hasattr(module, "registered_later")
    ffi.register_func(later, lambda x: x)
    try:
        assert module.registered_later(3) == 3
        assert module.registered_later.__module__ == f"mx.{name}"
        ffi.register_func(later, lambda x: x + 1, override=True)
        assert module.registered_later(3) == 4
    finally:
        ffi.remove_global_func(later)
    assert not hasattr(module, "registered_later")


def test_an_operator_of_a_library_loaded_later_is_found(tmp_path):
    text = "#include <mxnet/runtime/registry.h>\n"
    text += 'MXNET_REGISTER_API("_npi.loaded_later").arg("x")'
    text += ".set_body_typed([](int x) { return 2 * x; });\n"
    ffi.load_library(compile_library(tmp_path, "loaded_later", text, suffix=".cc"))
    try:
        assert mx.np.loaded_later(x=2) == 4
    finally:
        ffi.remove_global_func("_npi.loaded_later")


@pytest.mark.parametrize("name", ["shape", "pi", "ndarray", "_hidden"])
def test_what_the_namespace_has_from_elsewhere_stays(name):
    before = vars(mx.np).get(name)
    ffi.register_func(f"_npi.{name}", lambda x: x)
    try:
        assert vars(mx.np).get(name) is before
    finally:
        ffi.remove_global_func(f"_npi.{name}")
    assert vars(mx.np).get(name) is before


def test_aliases_come_and_go_with_their_operators():
    space, module = _registry.Namespace("m", "tests_m.", aliases={"a": "abs"}), ModuleType("m")
    space.follow_registry(module, space.public_functions())
    ffi.register_func("tests_m.abs", abs)
    assert module.a is module.abs
    ffi.register_func("tests_m.a", lambda x: "its own")
    assert (module.a(-1), module.abs(-1)) == ("its own", 1)
    ffi.remove_global_func("tests_m.a")
    assert module.a is module.abs
    ffi.remove_global_func("tests_m.abs")
    assert not {"a", "abs"} & set(vars(module))


def test_an_operator_registered_while_names_are_listed_is_found(monkeypatch):
    names = ffi.list_global_func_names

    def slow():
        listed = names()
        ffi.register_func("tests_m.meanwhile", abs)
        return listed

    monkeypatch.setattr(ffi, "list_global_func_names", slow)
    try:
        assert "meanwhile" in _registry.Namespace("m", "tests_m.").public_functions()
    finally:
        ffi.remove_global_func("tests_m.meanwhile")


@pytest.mark.parametrize("module", [mx, mx.np, mx.npx, mx._api_internal], ids=lambda m: m.__name__)
def test_namespaces_are_plain_modules(module):
    """CPython looks names up fast only in those: an exact module without a __getattr__."""
    assert type(module) is ModuleType
    assert "__getattr__" not in vars(module)


WITHOUT_ML_DTYPES = """
import sys
sys.modules["ml_dtypes"] = None
import mx
from mx.np import *
assert hasattr(mx.np, "bfloat16") and bfloat16 is mx.np.bfloat16
array = mx.np.ones(2, dtype=mx.np.bfloat16)
assert array.astype("float32").tolist() == [1, 1]
assert mx.np.bfloat16 != int and not isinstance(1, mx.np.bfloat16)
assert {mx.np.bfloat16: 1}[mx.np.bfloat16] == 1
for use in (lambda: mx.np.bfloat16(1), lambda: mx.np.bfloat16.dtype, lambda: array.dtype):
    try:
        use()
    except ImportError as error:
        assert "install ml_dtypes" in str(error)
    else:
        raise AssertionError
"""


UNUSED = "import sys, mx; mx.np.bfloat16; assert 'ml_dtypes' not in sys.modules"


@pytest.mark.parametrize("script", [WITHOUT_ML_DTYPES, UNUSED], ids=["without", "unused"])
def test_bfloat16_needs_ml_dtypes_only_for_elements_in_python(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_bfloat16_is_a_data_type_as_those_of_numpy_are():
    dtype = mx.np.bfloat16
    array = mx.np.ones(2, dtype=dtype)
    assert array.dtype == dtype == ml_dtypes.bfloat16
    assert array.astype(dtype).dtype == np.zeros(2, dtype).dtype == np.dtype(dtype)
    assert {dtype: 1}[array.dtype.type] == {ml_dtypes.bfloat16: 1}[dtype] == 1
    assert isinstance(dtype(1.5), dtype) and dtype(1.5) == 1.5
    assert dtype != np.float16 and not isinstance(np.float16(1), dtype)
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert repr(dtype) == "<class 'mx.np.bfloat16'>"
    assert mx.np.promote_types(dtype, "int8") == dtype


def test_the_internal_module_has_the_operators_own_signatures():
    from mx import _api_internal

    assert _api_internal.zeros((2, 3), "float64", "cpu(0)").shape == (2, 3)
    assert plain_signature(_api_internal.zeros) == "(shape, dtype=None, ctx=None)"


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("result_type", (np.zeros(1, "int8"), np.float32)),
        ("result_type", (np.zeros(1, "int8"), 3.0)),
        ("promote_types", ("int32", "float32")),
        ("can_cast", ("float64", "float32", "same_kind")),
        ("broadcast_shapes", ((2, 1), (3,))),
        ("array_equal", (np.zeros(2), np.zeros(2))),
        ("array_equal", (np.zeros(2), np.zeros((1, 2)))),
        ("array_equal", (np.zeros(2), np.ones(2))),
        ("isscalar", (3,)),
        ("isscalar", ([3],)),
        ("shape", (np.zeros((2, 3)),)),
        ("ndim", ([[1]],)),
        ("size", (np.zeros((2, 3)),)),
        ("size", (np.zeros((2, 3)), 1)),
    ],
)
def test_functions_about_arrays(function, arguments):
    given = [mx.np.array(x) if isinstance(x, np.ndarray) else x for x in arguments]
    assert getattr(mx.np, function)(*given) == getattr(np, function)(*arguments)


def test_import_loads_nothing_heavy():
    program = "import sys, mx; print(*sorted(sys.modules))"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {"torch", "ml_dtypes", "inspect", "asyncio", "scipy", "numpy.testing", "unittest"}
    import_of_numpy = "import sys, numpy; print(*sorted(sys.modules))"
    base = subprocess.run(
        [sys.executable, "-c", import_of_numpy], capture_output=True, text=True, check=True
    )
    assert not heavy & (set(found.stdout.split()) - set(base.stdout.split()))


def test_the_namespace_is_a_module_by_both_names():
    import mx.np
    import mx.npx

    assert mx.np is mx.numpy
    assert mx.npx is mx.numpy_extension
    assert pickle.loads(pickle.dumps(mx.np.ndarray)) is mx.np.ndarray


@pytest.mark.parametrize(
    "function", [mx.np.exp, mx.np.zeros, mx.np.absolute, mx.np.concatenate, mx.npx.softmax]
)
def test_functions_are_pickled_and_copied_by_name(function):
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy({"function": function})["function"] is function
