"""The bar chart of a run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.compare import cases
from benchmarks.compare.model import OURS, GroupResult

BARS = {
    OURS: "#0b6e4f",
    "nanobind": "#8da0cb",
    "pybind11": "#b3a2c7",
    "tvm-ffi, GIL held": "#fc8d62",
    "tvm-ffi": "#fdc9ae",
}

ROWS = (
    cases.NO_ARGUMENTS,
    cases.THREE_INTS,
    cases.STRING,
    cases.SHAPE,
    cases.ZEROS,
    cases.KEYWORDS,
    cases.NUMPY_IN,
    cases.TORCH_IN,
)


def draw(group: GroupResult, paths: list[Path]) -> bool:
    """Draws the cost of a call to every path; the suffix chooses the format.

    Returns False, and draws nothing, without Matplotlib or without a row to show.
    """
    rows = [case for case in ROWS if case in group.cases]
    try:
        import matplotlib
    except ImportError:
        return False
    if not rows:
        return False
    matplotlib.use("Agg")
    # Text stays text in the SVG, and the same figures give the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "benchmarks"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 1.0 + 0.7 * len(rows)))
    add_bars(axes, group, rows)
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xlabel("nanoseconds a call; shorter is better")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=5)
    figure.tight_layout()
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=150, metadata=metadata)
    pyplot.close(figure)
    return True


def add_bars(axes: Any, group: GroupResult, rows: Sequence[str]) -> None:
    """The bars and their labels. A bar that would dwarf the others is cut and has an arrow."""
    end = axis_end(group, rows)
    axes.set_xlim(0, end)
    height = 0.8 / len(BARS)
    for index, (name, color) in enumerate(BARS.items()):
        offset = (index - (len(BARS) - 1) / 2) * height
        values = [(y, group.cases[case].columns.get(name)) for y, case in enumerate(rows)]
        present = [(y + offset, column.median) for y, column in values if column is not None]
        if not present:
            continue
        positions, times = zip(*present, strict=True)
        axes.barh(positions, [min(t, end) for t in times], height, color=color, label=name)
        for position, time in present:
            cut = time > end * 0.96
            axes.annotate(
                f"{time:,.0f} \N{RIGHTWARDS ARROW}" if cut else f"{time:,.0f}",
                (end if cut else time, position),
                xytext=(-3 if cut else 3, 0),
                textcoords="offset points",
                ha="right" if cut else "left",
                va="center",
                fontsize=7,
            )


def axis_end(group: GroupResult, rows: Sequence[str]) -> float:
    """Where the axis ends: the typical longest bar of a row, with room to spare."""
    longest = []
    for case in rows:
        columns = group.cases[case].columns
        longest.append(max((columns[name].median for name in BARS if name in columns), default=1.0))
    return 1.8 * statistics.median(longest)
