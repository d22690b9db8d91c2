"""The bar chart of a run."""

from __future__ import annotations

from pathlib import Path

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

    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.85 * len(rows)))
    height = 0.8 / len(BARS)
    for index, (name, color) in enumerate(BARS.items()):
        present = [(y, group.cases[c].columns.get(name)) for y, c in enumerate(rows)]
        shown = [(y, column.median) for y, column in present if column is not None]
        if not shown:
            continue
        offset = (index - (len(BARS) - 1) / 2) * height
        places = [y + offset for y, _ in shown]
        bars = axes.barh(places, [v for _, v in shown], height, color=color, label=name)
        axes.bar_label(bars, fmt="%.0f", padding=2, fontsize=7)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xlabel("nanoseconds a call, logarithmic; shorter is better")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=5)
    figure.tight_layout()
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=150, metadata=metadata)
    pyplot.close(figure)
    return True
