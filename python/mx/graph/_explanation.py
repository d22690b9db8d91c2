"""Where every node of a graph is executed, and why not elsewhere: a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import onnx_ir


@dataclass(frozen=True)
class Row:
    """A node: its name, operator, where it runs, and why not on what is preferred to that."""

    name: str
    operator: str
    where: str
    why: str


class Explanation(tuple[Row, ...]):
    """The nodes of a graph in order; prints as a table below the summary."""

    summary: str
    head: tuple[str, str, str, str]

    def __new__(
        cls,
        rows: Iterable[Row],
        summary: str,
        head: tuple[str, str, str, str] = ("node", "operator", "where", "why not there"),
    ) -> Explanation:
        """`head` has the titles of the columns."""
        made = super().__new__(cls, rows)
        made.summary, made.head = summary, head
        return made

    def __repr__(self) -> str:
        rows = [self.head, *((row.name, row.operator, row.where, row.why) for row in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.summary, *lines])

    def labels(self) -> dict[str, str]:
        """Where the nodes run, by their names, for `Graph.picture` and `Graph.summary`."""
        return {row.name: row.where for row in self}


def row_of(node: onnx_ir.Node, where: str, why: str) -> Row:
    """The row of a node."""
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    return Row(node.name or "", operator, where, why)
