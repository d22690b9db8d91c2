"""Operators against those of the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from .. import abi, cases
from ..cases import Case
from ..plugin import OPERATOR_SET, UNTOUCHED, AccError, Executor, tensors
from ..suite import Group, Run, changes
from ..trials import Trial, executor_of, like, need_operators, queue, try_case

group = Group("operators", "operators, against those of the CPU", on_devices=True)

RUN = (
    "Executes the operator; shapes, types and strides are those it was asked for, data and "
    "byte_offset differ from call to call."
)
ASKED = "How an operator is executed; kMXAccUnsupported where it is not, with the reason."
FILLED = (
    "How one operator is executed for tensors of one spec and layout; filled in by the library. "
    "MXNet sets struct_size and zeroes the rest."
)
BEYOND = "Who fills in a struct that another made writes nothing beyond its struct_size"

WORKSPACE = (
    "Until the work is done it is used by nothing else, nor is it memory of an input or output; "
    "afterwards others may get it."
)

TITLES = {
    "unary": "Unary operators",
    "binary": "Binary operators",
    "reductions": "Reductions",
    "softmax": "Softmax operators",
    "products": "Products",
    "shapes": "Operators that move elements",
    "creation": "Operators that make arrays",
    "sizes": "Large and odd shapes",
    "axes": "Many axes, permuted and negative ones, batches of one",
    "outputs": "Outputs that are not row-major",
    "special": "NaN, infinities, -0, extremes and subnormal numbers of every type",
    "integers": "Integers that no float64 holds",
    "accumulation": "Long sums in short floats",
}


def _section(name: str) -> Callable[[Run], None]:
    def check(run: Run) -> None:
        need_operators(run)
        if cases.NO_BFLOAT16 and not run.quick:
            run.note(f"bfloat16 is not tried: {cases.NO_BFLOAT16}")
        with queue(run) as pending:
            for case in cases.SECTIONS[name](not run.quick):
                try_case(run, case, pending)

    check.__doc__ = f"{TITLES[name]} give what the CPU gives"
    return check


for _name in cases.SECTIONS:
    group.check(_name, RUN)(_section(_name))


@group.check(
    "bools",
    "A byte. 0 is false; true is 1 in results, and any other byte in memory that others made.",
)
def bools(run: Run) -> None:
    """Bytes that are neither 0 nor 1 are true"""
    need_operators(run)
    with queue(run) as pending:
        for case in cases.odd_bools():
            try_case(run, case, pending)


@group.check("unknown", ASKED)
def unknown(run: Run) -> None:
    """An operator that there is not is unsupported, with a reason"""
    need_operators(run)
    with run.step("no_such_operator float32 (2,)"):
        (x,) = like([np.zeros(2, "float32")], run)
        try:
            executor = run.plugin.executor("no_such_operator", {"x": x}, [x], run.device)
        except AccError as error:
            run.expect(error.code == "unsupported", "kMXAccUnsupported", error)
        else:
            run.finding("kMXAccUnsupported", "an executor")
            executor.close()


@group.check("struct", FILLED)
def struct(run: Run) -> None:
    """The executor's struct is filled in, and nothing beyond it"""
    need_operators(run)
    x = np.zeros(2, "float32")
    for case in (Case("add", "(2,)", (x, x)), Case("negative", "(2,)", (x,))):
        with run.step(case.text):
            call = cases.call_of(case)
            inputs = like(list(call.inputs.values()), run)
            operator = abi.MXAccOperator(
                ctypes.sizeof(abi.MXAccOperator),
                case.name.encode(),
                OPERATOR_SET,
                run.device,
                tensors(inputs, list(call.inputs)),
                tensors(like([x], run), role=3),
                len(inputs),
                1,
            )
            size = ctypes.sizeof(abi.MXAccExecutor)
            room = ctypes.create_string_buffer(bytes([UNTOUCHED]) * 2 * size, 2 * size)
            ctypes.memset(room, 0, size)
            made = abi.MXAccExecutor.from_buffer(room)
            made.struct_size = size
            try:
                run.plugin.call("accGetExecutor", ctypes.byref(operator), ctypes.byref(made))
            except AccError as error:
                run.rejected(case.text, error.message)
                continue
            finally:
                written = changes(room.raw[size:], bytes([UNTOUCHED]) * size)
                run.expect(not written, "nothing written beyond", written, BEYOND)
            known = abi.CONCURRENT | abi.IN_PLACE
            run.expect(made.struct_size <= size, f"struct_size {size}", made.struct_size)
            if run.plugin.api.abi_minor <= abi.ABI_MINOR:
                run.expect(not made.flags & ~known, f"flags of {known:#x}", hex(made.flags))
            Executor(run.plugin, made, run.device).close()


def _with_workspaces(run: Run) -> list[Trial]:
    """Operators whose executors ask for a workspace."""
    x = np.linspace(-1, 1, 24 * 40, dtype="float32").reshape(24, 40)
    turned = x.T.copy()
    trials = []
    for case in (
        Case("sort", "(24, 40)", (x,), {"axis": 1}),
        Case("argsort", "(24, 40)", (x,), {"axis": 0}),
        Case("softmax", "(24, 40)", (x,)),
        Case("sum", "(24, 40)", (x,), {"axis": 1}, is_sum=True),
        Case("max", "(24, 40)", (x,), {"axis": 0}),
        Case("var", "(24, 40)", (x,), {"axis": 1}, is_sum=True),
        Case("matmul", "(24, 40)", (x, turned), is_sum=True),
        Case("matmul", "(24, 40) of every second", (x[:, ::2], turned[::2]), is_sum=True),
        Case("add", "(24, 40)", (x, turned.T)),
        Case("exp", "(24, 40) transposed", (x.T,)),
    ):
        call, expected = cases.call_of(case), cases.expected_of(case)
        executor = executor_of(run, case, call, expected)
        if executor is None:
            continue
        if executor.workspace_bytes == 0:
            executor.close()
            continue
        trials.append(Trial(run, case, call, expected, executor))
    return trials


@group.check("workspaces", WORKSPACE)
def workspaces(run: Run) -> None:
    """A run uses the workspace that it is given, and no other"""
    need_operators(run)
    trials = _with_workspaces(run)
    if not trials:
        run.skip("no operator that is tried asks for a workspace")
        return
    for trial in trials:
        with run.step(f"{trial.case.text}, {trial.executor.workspace_bytes} bytes"):
            first = trial.give()
            first.workspace.fill()
            trial.look_at(trial.give(), "with another workspace")
            first.workspace.tensors.fetch()
            untouched = first.workspace.is_untouched()
            run.expect(untouched, "the workspace of the run before left alone", "it was written to")
            trial.look_at(first, "the first run")
        trial.executor.close()
