"""The plans of a module: one for each context, each of which gets a part of the rows of a batch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy

from .. import numpy as np
from ..context import Context, cpu
from ..graph import Graph, PartitionedPlan, Plan

Arrays = dict[str, Any]


@dataclass(frozen=True)
class PlanOptions:
    """What plans are made with, as PartitionedPlan explains it; the CPU's need `keep_nan` alone."""

    fallback: str | None = None
    options: Mapping[str, Any] | None = None
    verify: bool | tuple[float, float] = False
    keep_nan: bool = False
    background: bool = False

    def plan(self, graph: Graph, context: Context) -> Plan:
        """What executes a graph on a context."""
        if is_cpu(context):
            return Plan(graph, keep_nan=self.keep_nan)
        return PartitionedPlan(
            graph,
            context,
            fallback=self.fallback,
            options=self.options,
            verify=self.verify,
            keep_nan=self.keep_nan,
            background=self.background,
        )


class Executors:
    """Executes a graph for batches, whose rows are shared out among contexts.

    Rows are along the first axis of inputs; what has no axes each context gets whole. Contexts
    work at the same time, and those for which no row is left not at all.
    """

    def __init__(self, graph: Graph, contexts: Sequence[Context], options: PlanOptions) -> None:
        self._contexts = list(contexts)
        self._options = options
        if len(contexts) > 1:
            _check_rows_vary(graph)
        self._plans = self._plans_of(graph, {})
        self._workers: ThreadPoolExecutor | None = None
        self._process = 0  # whose threads those are: a child of fork has none of them

    def _plans_of(self, graph: Graph, before: Mapping[Any, PartitionedPlan]) -> list[Plan]:
        """The plan of each context; `before` has those of the same graph with other weights."""
        # Plans may be run by several threads: contexts that are the same have one.
        made: dict[Any, Plan] = {}
        for key, context in zip(self._keys(), self._contexts, strict=True):
            if key in made:
                continue
            if key in before:
                before[key].update_weights(graph)
                made[key] = before[key]
            else:
                made[key] = self._options.plan(graph, context)
        return [made[key] for key in self._keys()]

    def _keys(self) -> list[Any]:
        return ["cpu" if is_cpu(context) else context for context in self._contexts]

    def update_weights(self, graph: Graph) -> bool:
        """Takes the weights of a graph, which differs from that of before in nothing else. False
        where it takes other inputs: parameters that were missing are there, say."""
        # Of those of the CPU nothing is kept, so that weights are not there twice.
        pairs = zip(self._keys(), self._plans, strict=True)
        before = {key: plan for key, plan in pairs if isinstance(plan, PartitionedPlan)}
        self._plans = []
        try:
            self._plans = self._plans_of(graph, before)
        except ValueError:
            return False
        return True

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs that a run has to be given."""
        return self._plans[0].input_names

    def run(self, inputs: Mapping[str, Any]) -> list[list[Any]]:
        """The outputs of each context that got rows. ValueError where inputs differ in rows."""
        if len(self._contexts) == 1:
            return [self._run_one(0, inputs)]
        if self._workers is None or self._process != os.getpid():
            self._workers = ThreadPoolExecutor(len(self._contexts))
            self._process = os.getpid()
        submit = self._workers.submit
        parts = self._split(inputs)
        running = [submit(self._run_one, number, part) for number, part in enumerate(parts)]
        failures = [error for one in running if (error := one.exception()) is not None]
        if failures:
            raise failures[0]
        return [one.result() for one in running]

    def _run_one(self, number: int, inputs: Mapping[str, Any]) -> list[Any]:
        bring = on_cpu if is_cpu(self._contexts[number]) else as_array
        return self._plans[number].run({name: bring(content) for name, content in inputs.items()})

    def _split(self, inputs: Mapping[str, Any]) -> list[Arrays]:
        """The inputs of each context that gets rows: as many as the others, or one more."""
        arrays = {name: as_array(content) for name, content in inputs.items()}
        counts = {name: array.shape[0] for name, array in arrays.items() if array.ndim}
        if len(set(counts.values())) > 1:
            raise ValueError(
                f"Module.forward: data_batch: expected arrays of the same number of rows for "
                f"{len(self._plans)} contexts, got {counts}"
            )
        rows = next(iter(counts.values()), 0)
        parts = min(len(self._plans), max(rows, 1))
        ends = [rows * (number + 1) // parts for number in range(parts)]
        begins = [0, *ends[:-1]]
        return [
            {name: array[begin:end] if array.ndim else array for name, array in arrays.items()}
            for begin, end in zip(begins, ends, strict=True)
        ]

    def summary(self) -> str:
        """Where the nodes were executed, in one line."""
        by_plan: dict[int, list[str]] = {}
        for context, plan in zip(self._contexts, self._plans, strict=True):
            by_plan.setdefault(id(plan), []).append(str(context))
        if len(by_plan) == 1:
            return self._plans[0].summary()
        plans = {id(plan): plan for plan in self._plans}
        return "; ".join(f"{', '.join(n)}: {plans[key].summary()}" for key, n in by_plan.items())


def _check_rows_vary(graph: Graph) -> None:
    for spec in graph.inputs:
        if spec.shape and isinstance(spec.shape[0], int):
            raise ValueError(
                f"Module: context: several contexts share rows, but the graph's input "
                f"{spec.name!r} has always {spec.shape[0]}"
            )


def merged(parts: Sequence[Any], name: str) -> Any:
    """An output of all contexts: rows of one behind those of the other, where the first is."""
    if len(parts) == 1:
        return parts[0]
    if any(numpy.ndim(part) == 0 for part in parts):
        raise ValueError(
            f"Module.get_outputs: the output {name!r} has no rows that could be merged: "
            "merge_multi_context=False gives it of each context"
        )
    if not all(isinstance(part, np.ndarray) for part in parts):
        return numpy.concatenate([numpy.asarray(part) for part in parts])
    whole = np.concatenate([on_cpu(part) for part in parts], axis=0)
    return whole.as_in_ctx(parts[0].ctx)


def is_cpu(context: Context) -> bool:
    """Whether a context is one of the CPU."""
    return bool(context.device_type == "cpu")


def on_cpu(array: Any) -> Any:
    """An array of mx that is on the CPU; what is none is made one."""
    return array.as_in_ctx(cpu()) if isinstance(array, np.ndarray) else np.asarray(array)


def as_array(array: Any) -> Any:
    """An array of mx, wherever it is."""
    return array if isinstance(array, np.ndarray) else np.asarray(array)
