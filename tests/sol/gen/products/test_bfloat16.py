"""Products of bfloat16: weights rounded to it, and what they multiply where the processor does."""

from __future__ import annotations

import ctypes
import dataclasses
import platform

import ml_dtypes
import numpy
import pytest

from mx.graph.lowering._node import PRECISION
from mx.sol.backends.gen import FLAGS as OPTIONS
from mx.sol.backends.gen import Spec, Target, library_source
from mx.sol.backends.gen.products import Step
from mx.sol.backends.gen.products._pairs import rounded_bits
from mx.sol.backends.gen.products.channels_last import convolution_last
from mx.sol.backends.gen.products.matmul import gemm, matmul
from mx.sol.jits import JITS, compiled, found
from tests.processor import FLAGS

from .running import TARGETS, WARNINGS, Case, Table

random = numpy.random.default_rng(0)
ROUNDS = {PRECISION: "bfloat16"}


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


def rounded(x: numpy.ndarray) -> numpy.ndarray:
    return x.astype(ml_dtypes.bfloat16).astype(numpy.float64)


def _product(*shapes: tuple[int, ...]) -> Case:
    return Case("MatMul", tuple(_of(*shape) for shape in shapes), (1,), ROUNDS)


def _matrix(turn_b: int, *addend: int, **attributes: float) -> Case:
    b = _of(*((37, 41) if turn_b else (41, 37)))
    inputs = (_of(21, 41), b, _of(*addend)) if addend else (_of(21, 41), b)
    return Case("Gemm", inputs, (1,), {"transB": turn_b, **attributes, **ROUNDS})


CASES = {
    "odd": _product((5, 7), (7, 3)),
    "row": _product((1, 64), (64, 33)),
    "blocks": _product((70, 1101), (1101, 65)),
    "rows": _product((150, 20), (20, 50)),
    "wide": _product((3, 9), (9, 200)),
    "many": _product((40, 300), (300, 1800)),  # whose weights are fetched ahead
    "batch": _product((4, 17, 20), (20, 33)),
    "vector": _product((7,), (7, 5)),
    "no_depth": _product((3, 0), (0, 4)),
    "no_rows": _product((0, 3), (3, 4)),
    "one": _product((1, 1), (1, 1)),
    "gemm_column": _matrix(0, 37),
    "gemm_row": _matrix(1, 21, 1),
    "gemm_scaled": _matrix(1, 37, alpha=0.5),
    "gemm_alone": _matrix(1),
}
EPILOGUE = (Step.binary("Add", Spec((9, 1), "float32")), Step("Relu"))


def _ended(target: Target):
    specs = [Spec((3, 9, 12), "float32"), Spec((12, 37), "float32")]
    return matmul(target, specs, ROUNDS, {1: ENDED[1]}, EPILOGUE)


def _pixels(target: Target):
    specs = [Spec(x.shape, "float32") for x in PIXELS]
    return convolution_last(target, specs, ROUNDS, {1: PIXELS[1]})


ENDED = _of(3, 9, 12), _of(12, 37), _of(9, 1)
PIXELS = _of(2, 3, 5, 7), _of(19, 7, 1, 1), _of(19)
MAKERS = {name: case.kernel for name, case in CASES.items()}
MAKERS |= {"epilogue": _ended, "pixels": _pixels}
TABLE = Table(MAKERS)


def forced(make):
    """Has kernels use the instructions wherever they are."""

    def made(target: Target):
        kernel = make(target)
        text = kernel.source.replace('!__builtin_cpu_is("intel")', "1")
        assert text != kernel.source or not kernel.tiles
        return dataclasses.replace(kernel, source=text)

    return made


TABLE_FORCED = Table({name: forced(make) for name, make in MAKERS.items()})
FORCED = "avx512_bf16"
WAYS = [*TARGETS, FORCED]
IS_INTEL = "GenuineIntel" in FLAGS
IS_ZIG = [one.name for one in found()][:1] == ["zig"]


def run(way: str, name: str, inputs) -> numpy.ndarray:
    if way != FORCED:
        (got,) = TABLE.run(way, name, inputs)
    elif IS_ZIG:
        pytest.skip("zig does not let code ask for instructions")
    elif "avx512_bf16" not in FLAGS:
        pytest.skip("the processor has no avx512_bf16")
    else:
        (got,) = TABLE_FORCED.run("avx512", name, inputs)
    return got


def check(way: str, got: numpy.ndarray, expected) -> None:
    """That it is the product of rounded weights and of rounded factors, or of those of float32
    without the instructions. `expected` computes it of what is done to factors."""
    is_rounded = way == FORCED or (
        Target.named(way).has("avx512_bf16") and not IS_INTEL and not IS_ZIG
    )
    wanted = expected(rounded if is_rounded else numpy.float64)
    assert got.shape == wanted.shape
    numpy.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_products(way: str, name: str) -> None:
    case = CASES[name]
    got = run(way, name, case.inputs)
    a, b, *c = case.inputs
    assert a is not None and b is not None
    weights = b.T if case.attributes.get("transB") else b
    scaled = weights * numpy.float32(case.attributes.get("alpha", 1))
    check(way, got, lambda of: of(a) @ rounded(scaled) + (c[0] if c else 0))


@pytest.mark.parametrize("way", WAYS)
def test_epilogue(way: str) -> None:
    a, b, c = ENDED
    got = run(way, "epilogue", ENDED)
    check(way, got, lambda of: numpy.maximum(of(a) @ rounded(b) + c, 0))


@pytest.mark.parametrize("way", WAYS)
def test_pixels(way: str) -> None:
    x, w, bias = PIXELS
    got = run(way, "pixels", PIXELS)
    check(way, got, lambda of: of(x) @ rounded(w[:, :, 0, 0]).T + bias)


@pytest.mark.parametrize("way", WAYS)
def test_keeps_nan_and_infinity_in_their_rows(way: str) -> None:
    a, b = CASES["rows"].inputs
    assert a is not None and b is not None
    a = a.copy()
    a[3, 1], a[70, 2] = numpy.nan, numpy.inf
    got = run(way, "rows", (a, b))
    numpy.testing.assert_array_equal(numpy.isfinite(got).all(1), numpy.isfinite(a).all(1))
    assert numpy.isnan(got[3]).all() and numpy.isinf(got[70]).all()


def test_weights_take_half_the_memory() -> None:
    (weights,) = CASES["many"].kernel(Target.named("c")).constants
    assert weights.nbytes == 300 * 1800 * 2


@pytest.mark.parametrize(
    ("attributes", "known"), [({"transA": 1, **ROUNDS}, (1,)), (ROUNDS, ()), ({}, (1,))]
)
def test_what_stays_in_float32(attributes, known) -> None:
    x = _of(8, 8)
    specs = [Spec(x.shape, "float32")] * 2
    kernel = gemm(Target.named("avx512"), specs, attributes, dict.fromkeys(known, x))
    assert "dpbf16" not in kernel.source
    assert all(array.dtype == numpy.float32 for array in kernel.constants)


def test_rounding() -> None:
    """To the nearest, ties to even; NaN stays one."""
    bits = numpy.array(
        [0, 1, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800000, 0xFF800001, 0x80000000],
        numpy.uint32,
    )
    values = numpy.concatenate((bits.view(numpy.float32), _of(1000)))
    with numpy.errstate(invalid="ignore"):
        expected = values.astype(ml_dtypes.bfloat16)
    made = rounded_bits(values).astype(numpy.uint16).view(ml_dtypes.bfloat16)
    numpy.testing.assert_array_equal(made.astype("float32"), expected.astype("float32"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="no compiler for x86-64")
@pytest.mark.parametrize("instructions", ["", "-mavx512bf16"])
def test_what_processors_may_lack_is_compiled_everywhere(instructions: str) -> None:
    """For all processors with AVX-512, and for those of which more is known."""
    target = Target.named("avx512")
    kernels = [MAKERS[name](target) for name in ("blocks", "row", "epilogue")]
    flags = (*OPTIONS, *WARNINGS, *filter(None, [instructions]))
    source = library_source(kernels)
    assert "_mm512_dpbf16_ps" in source
    compiled(source, target, flags)


@pytest.mark.skipif(JITS.get("zig").find() is None, reason="no zig")
@pytest.mark.parametrize("target", TARGETS)
def test_zig_makes_vectors_of_the_target(target: str, tmp_path) -> None:
    """Not those of the processor that it runs on, and does without what its runtime lacks."""
    kernel = MAKERS["row"](Target.named(target))
    source = library_source([kernel]) + "int lanes(void) { return VW; }\n"
    JITS.get("zig").build(source, tmp_path / "x.so", Target.named(target), OPTIONS)
    assert ctypes.CDLL(str(tmp_path / "x.so")).lanes() == Target.named(target).lanes
