"""What the boundary is meant to reach, and whether a run reached it. Limits live here only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.compare import (
    accelerators,
    cases,
    growth,
    imports,
    inline,
    operator_rows,
    operators,
    paths,
    scaling,
)
from benchmarks.compare.model import OURS, GroupResult
from benchmarks.peers import onnxruntime_peer
from benchmarks.peers.mxffi_peer import BUILT_IN

Results = Mapping[str, GroupResult]
Measure = Callable[[Results], float | None]

TVM = "tvm-ffi, GIL held"
MEMORY_LIMIT_KIB = 256.0  # a leak of one byte a call would be 977 KiB in a million calls
REGISTRY_LIMIT = 1.1
ELEMENTWISE_LIMIT = 1.1
SCALING_LIMIT = 0.8
LIBRARY_LIMIT = 1.03
ACCELERATOR_LIMIT_NS = 150.0
SUBGRAPH_LIMIT_NS = 300.0


@dataclass(frozen=True)
class Target:
    """A quantity with a limit: at most `limit`, or at least where `at_least` is set."""

    text: str
    measure: Measure
    limit: float
    unit: str = "x"
    at_least: bool = False


@dataclass(frozen=True)
class Outcome:
    """A target with what was measured; both are None where the run did not measure it."""

    text: str
    limit: str
    measured: str | None
    met: bool | None


def ratio(group: str, case: str, column: str) -> Measure:
    """Ratio of the medians, ours to `column`."""

    def measure(results: Results) -> float | None:
        found = results[group].cases.get(case) if group in results else None
        return found.ratios[column].of_medians if found and column in found.ratios else None

    return measure


def inverse(measure: Measure) -> Measure:
    """How many times faster, where `measure` is a ratio of times."""

    def inverted(results: Results) -> float | None:
        value = measure(results)
        return 1 / value if value else None

    return inverted


def highest_ratio(group: str, wanted: Sequence[str]) -> Measure:
    """The highest ratio among some cases of a table."""

    def measure(results: Results) -> float | None:
        table = results[group].cases if group in results else {}
        rows = [table[case] for case in wanted if case in table]
        return max((r.of_medians for row in rows for r in row.ratios.values()), default=None)

    return measure


def highest(group: str) -> Measure:
    """The highest median in a table."""

    def measure(results: Results) -> float | None:
        rows = results[group].cases.values() if group in results else ()
        return max((c.median for row in rows for c in row.columns.values()), default=None)

    return measure


def median(group: str, case: str, column: str) -> Measure:
    """A median as it stands in the table."""

    def measure(results: Results) -> float | None:
        found = results[group].cases.get(case) if group in results else None
        return found.columns[column].median if found and column in found.columns else None

    return measure


def beyond(group: str, case: str, column: str) -> Measure:
    """How much more ours takes than another column, in the unit of the table."""
    ours, other = median(group, case, OURS), median(group, case, column)

    def measure(results: Results) -> float | None:
        a, b = ours(results), other(results)
        return None if a is None or b is None else a - b

    return measure


def time_against(group: str, case: str, column: str) -> Measure:
    """Another column's median divided by ours: a ratio of times, where the table has speeds."""
    ours, other = median(group, case, OURS), median(group, case, column)

    def measure(results: Results) -> float | None:
        a, b = ours(results), other(results)
        return None if not a or b is None else b / a

    return measure


def share_of_cores(case: str) -> Measure:
    """The speed-up of many threads divided by the number of cores."""
    speed_up = median("threads", case, OURS)

    def measure(results: Results) -> float | None:
        value = speed_up(results)
        return None if value is None else value / scaling.CORES

    return measure


def against(group: str, limits: Mapping[tuple[str, str], float]) -> list[Target]:
    """Targets on ratios to a column, by case and column."""
    return [
        Target(f"{case}: against {column}", ratio(group, case, column), limit)
        for (case, column), limit in limits.items()
    ]


CALLS = {
    (cases.NO_ARGUMENTS, TVM): 0.55,
    (cases.THREE_INTS, TVM): 0.45,
    (cases.STRING, TVM): 0.3,
    (cases.SHAPE, TVM): 0.3,
    (cases.ZEROS, TVM): 0.2,
    (cases.NO_ARGUMENTS, "nanobind"): 1.35,
    (cases.THREE_INTS, "nanobind"): 1.35,
    (cases.STRING, "nanobind"): 1.35,
    (cases.SHAPE, "nanobind"): 1.35,
    (cases.as_typed(cases.NO_ARGUMENTS), "nanobind"): 1.4,
    (cases.KEYWORDS, TVM): 0.45,
    (cases.NUMPY_IN, TVM): 1.0,
    (cases.NUMPY_IN, "pybind11"): 1.0,
    (cases.NUMPY_IN, "nanobind"): 1.0,
    (cases.TORCH_IN, TVM): 1.0,
    (cases.TORCH_IN, "pybind11"): 1.0,
    (cases.TORCH_IN, "nanobind"): 1.0,
    (cases.THROWN, TVM): 0.1,
    (cases.RETURNED, TVM): 0.02,
}

VALUES = {
    (cases.OBJECT_ECHO, TVM): 0.5,
    (cases.TENSOR_ECHO, TVM): 0.7,
    (cases.SHORT_ECHO, TVM): 0.35,
    (cases.LONG_ECHO, TVM): 0.15,
    (cases.CALLBACK, TVM): 0.5,
    **{
        (case, TVM): 1.0
        for table in (cases.ARRAY_IN, cases.ARRAY_OUT, cases.MAP_IN, cases.MAP_OUT)
        for case in table.values()
    },
}

WORKLOADS = {
    (cases.NP_ZEROS, "numpy"): 0.6,
    (cases.as_typed(cases.NP_ZEROS), "numpy"): 0.55,
    (cases.NP_ZEROS_DTYPE, "numpy"): 0.5,
    (cases.NP_ZEROS_CTX, "numpy"): 0.6,
    (cases.NP_ZEROS_CTX_MADE, "numpy"): 0.6,
    (cases.NP_ZEROS_CTX_STRING, "numpy"): 0.6,
    (cases.NP_ADD, "numpy"): 0.3,
    (cases.NP_TENSORDOT, "numpy"): 0.1,
}

ELEMENTWISE = {(case, "numpy"): ELEMENTWISE_LIMIT for case in cases.ELEMENTWISE}

LARGE = {(case, "numpy"): 1.05 for case in cases.LARGE}

# Of rows of the table of all operators, by size.
OPERATOR_MEANS = dict(zip(operator_rows.SIZES, (0.25, 0.3, 0.5, 0.55), strict=True))
OPERATOR_LIMITS = {
    **{(operators.ALL_ROWS, size): limit for size, limit in OPERATOR_MEANS.items()},
    **{(operators.VIEW_ROWS, size): 0.6 for size in operator_rows.SIZES},
    **{(operators.HIGHEST, size): operators.SLOW for size in operator_rows.SIZES},
}

LIBRARIES = {(case, BUILT_IN): LIBRARY_LIMIT for case in cases.LIBRARY}

# Cold means with nothing kept, so nanobind's library is compiled, too.
INLINE = {
    (case, column): 1.0
    for case in (inline.COLD_WALL, inline.COLD_PROCESSOR)
    for column in (inline.TVM, inline.NANOBIND_FIRST)
}

ACCELERATORS = {
    **{
        (row(library), accelerators.MEMCPY): 1.1
        for library in (accelerators.REFERENCE, accelerators.ONEDNN)
        for row in (accelerators.copy_to, accelerators.copy_from)
    },
    (accelerators.chain(accelerators.TEMPLATE), onnxruntime_peer.PLUGIN): 1.0,
    (accelerators.subgraph(accelerators.REFERENCE), onnxruntime_peer.PLUGIN): 1.0,
    (accelerators.zeros(accelerators.SMALL), accelerators.CPU): 1.3,
    (accelerators.zeros(accelerators.LARGE), accelerators.CPU): 1.3,
}

FIRST_WORKLOADS = (
    cases.NP_ZEROS,
    cases.NP_ZEROS_DTYPE,
    cases.NP_ZEROS_CTX_STRING,
    cases.NP_TENSORDOT,
)

TARGETS: tuple[Target, ...] = (
    *against("calls", CALLS),
    *against("values", VALUES),
    *against("workloads", WORKLOADS),
    *against("elementwise", ELEMENTWISE),
    *(
        Target(f"{case} of {size:,}", median("operators", case, f"{size:,}"), limit)
        for (case, size), limit in OPERATOR_LIMITS.items()
    ),
    *against("large", LARGE),
    *(
        Target(f"{target.text}, one thread", target.measure, target.limit)
        for target in against("large-one-thread", LARGE)
    ),
    Target(
        f"time of a call of {scaling.EXP}, {scaling.THREADS[-1]} threads: against numpy",
        time_against("threads", scaling.BESIDE_NUMPY, scaling.NUMPY),
        ELEMENTWISE_LIMIT,
    ),
    Target(
        f"{scaling.SCALED}, of the cores",
        share_of_cores(scaling.SCALED),
        SCALING_LIMIT,
        at_least=True,
    ),
    *(
        Target(
            f"{case}: cython faster than ctypes",
            inverse(ratio("paths", case, paths.CTYPES)),
            8.0,
            at_least=True,
        )
        for case in FIRST_WORKLOADS
    ),
    *(
        Target(f"{target.text}, of a library built in the run", target.measure, target.limit)
        for target in against("libraries", LIBRARIES)
    ),
    Target(
        "instructions of a library's op, the worst case, against the same op built in",
        highest_ratio("instructions", cases.LIBRARY),
        LIBRARY_LIMIT,
    ),
    *(
        Target(f"load_inline, {target.text}", target.measure, target.limit)
        for target in against("inline", INLINE)
    ),
    Target("load_inline, warm", median("inline", inline.WARM_WALL, OURS), 10.0, "ms"),
    Target(
        "import ffi over a bare interpreter",
        median("imports", imports.FFI, imports.OVER_BARE),
        20.0,
        "ms",
    ),
    Target(
        "import mx over importing numpy",
        median("imports", imports.MX, imports.OVER_NUMPY),
        40.0,
        "ms",
    ),
    *(
        Target(
            f"{accelerators.add(library)}: beyond the CPU",
            beyond("accelerator", accelerators.add(library), accelerators.CPU),
            ACCELERATOR_LIMIT_NS,
            "ns",
        )
        for library in (accelerators.TEMPLATE, accelerators.REFERENCE)
    ),
    Target(
        f"{accelerators.subgraph(accelerators.REFERENCE)}: beyond the CPU",
        beyond("accelerator", accelerators.subgraph(accelerators.REFERENCE), accelerators.CPU),
        SUBGRAPH_LIMIT_NS,
        "ns",
    ),
    *against("accelerator", ACCELERATORS),
    Target(
        "growth of resident memory, the worst argument kind of both paths",
        highest("memory"),
        MEMORY_LIMIT_KIB,
        "KiB",
    ),
    Target(
        "growth of resident memory, accelerator libraries loaded and unloaded, the worst",
        highest("accelerator-memory"),
        MEMORY_LIMIT_KIB,
        "KiB",
    ),
    Target(
        "a call with a grown registry, the worst case, against the registry as installed",
        highest_ratio("registry", growth.CALL_CASES),
        REGISTRY_LIMIT,
    ),
)


def outcome(target: Target, results: Results) -> Outcome:
    """What a run says about a target."""
    sign = ">=" if target.at_least else "<="
    limit = f"{sign} {target.limit:g} {target.unit}"
    value = target.measure(results)
    if value is None:
        return Outcome(target.text, limit, None, None)
    met = value >= target.limit if target.at_least else value <= target.limit
    return Outcome(target.text, limit, f"{value:.3g} {target.unit}", met)


def outcomes(results: Results) -> list[Outcome]:
    """All targets, in order."""
    return [outcome(target, results) for target in TARGETS]
