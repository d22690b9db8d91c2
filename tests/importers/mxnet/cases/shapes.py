"""Cases: what changes shapes and moves elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .data import SMALL, A, B, Case, f32


def reshaped(*shape: int) -> Callable[..., Any]:
    return lambda x: x.reshape(shape)


FOUR = f32(2, 3, 4, 5)
SHAPES: list[Case] = [
    ("_npi_vstack", {}, [f32(3), f32(3)], lambda a, b: np.vstack([a, b])),
    ("_npi_hstack", {}, [A, B], lambda a, b: np.hstack([a, b])),
    ("_npi_hstack", {}, [f32(3), f32(2)], lambda a, b: np.hstack([a, b])),
    ("_npi_tril", {"k": 1}, [SMALL], lambda x: np.tril(x, 1)),
    ("_npi_triu", {"k": -1}, [SMALL], lambda x: np.triu(x, -1)),
    (
        "_npi_pad",
        {"pad_width": ((1, 0), (2, 1)), "constant_values": 3},
        [A],
        lambda x: np.pad(x, ((1, 0), (2, 1)), constant_values=3),
    ),
    (
        "_npi_pad",
        {"pad_width": "((0, 1), (1, 0))", "mode": "edge"},
        [A],
        lambda x: np.pad(x, ((0, 1), (1, 0)), "edge"),
    ),
    *(
        ("Reshape", {"shape": codes}, [FOUR], reshaped(*shape))
        for codes, shape in {
            (0, -1): (2, 60),
            (-1, 5): (24, 5),
            (6, 1, 20): (6, 1, 20),
            (-2,): (2, 3, 4, 5),
            (0, 3, -2): (2, 3, 4, 5),
            (-3, -3): (6, 20),
            (0, -3, 0): (2, 12, 5),
            (0, 0, -4, 2, -1, -2): (2, 3, 2, 2, 5),
            (-4, 1, 2, -2): (1, 2, 3, 4, 5),
            (-3, -4, 2, 2, 0): (6, 2, 2, 5),
            (0, -4, -1, 3, 0, 5): (2, 1, 3, 4, 5),
            (1, -2): (1, 3, 4, 5),
        }.items()
        if np.prod(shape) == 120
    ),
    ("Reshape", {"shape": (-1, 0), "reverse": True}, [f32(10, 5, 4)], reshaped(50, 4)),
    ("Reshape", {"shape": (-1, 0, 0), "reverse": True}, [FOUR], reshaped(6, 4, 5)),
    ("Reshape", {"shape": (-3, 0), "reverse": True}, [f32(2, 3, 4)], reshaped(6, 4)),
    ("Reshape", {"target_shape": (2, 0)}, [FOUR], reshaped(2, 60)),
    ("Reshape", {"target_shape": "(0,12,5)", "keep_highest": True}, [FOUR], reshaped(2, 12, 5)),
    *(
        ("_npx_reshape", {"newshape": codes}, [array], reshaped(*shape))
        for codes, array, shape in [
            ((-1, 20), FOUR, (6, 20)),
            ((-2, -2, -1), FOUR, (2, 3, 20)),
            ((-2, -4), FOUR, (2, 3, 4, 5)),
            ((-5, -4), FOUR, (6, 4, 5)),
            ((-6, 1, -1, -4), FOUR, (1, 2, 3, 4, 5)),
            ((-2, -3, -1), f32(2, 1, 4, 5), (2, 20)),
            ((-3, -5, -2), f32(1, 2, 4, 5), (8, 5)),
        ]
    ),
    ("_np_reshape", {"newshape": (-1,)}, [FOUR], reshaped(120)),
    ("reshape_like", {}, [FOUR, f32(6, 20)], lambda x, y: x.reshape(6, 20)),
    (
        "reshape_like",
        {"lhs_begin": 0, "lhs_end": 2, "rhs_begin": 0, "rhs_end": 1},
        [FOUR, f32(6, 20)],
        lambda x, y: x.reshape(6, 4, 5),
    ),
    ("Flatten", {}, [FOUR], reshaped(2, 60)),
    ("transpose", {}, [FOUR], lambda x: x.T),
    ("transpose", {"axes": (0, 2, 3, 1)}, [FOUR], lambda x: x.transpose(0, 2, 3, 1)),
    ("_npi_transpose", {"axes": (0, -1, 1, 2)}, [FOUR], lambda x: x.transpose(0, 3, 1, 2)),
    ("SwapAxis", {"dim1": 1, "dim2": 3}, [FOUR], lambda x: x.swapaxes(1, 3)),
    (
        "_np_moveaxis",
        {"source": (0, 1), "destination": (-1, 0)},
        [FOUR],
        lambda x: np.moveaxis(x, (0, 1), (-1, 0)),
    ),
    ("expand_dims", {"axis": 1}, [A], lambda x: x[:, None]),
    ("expand_dims", {"axis": -1}, [A], lambda x: x[..., None]),
    ("squeeze", {}, [f32(2, 1, 3, 1)], reshaped(2, 3)),
    ("squeeze", {"axis": 1}, [f32(2, 1, 3, 1)], reshaped(2, 3, 1)),
    ("_np_squeeze", {"axis": "(1, -1)"}, [f32(2, 1, 3, 1)], reshaped(2, 3)),
    ("Concat", {}, [A, f32(2, 4)], lambda a, b: np.concatenate([a, b], 1)),
    ("concat", {"dim": 0}, [A, B], lambda a, b: np.concatenate([a, b])),
    ("_npi_concatenate", {"axis": -1}, [A, B], lambda a, b: np.concatenate([a, b], -1)),
    ("stack", {"axis": 1}, [A, B], lambda a, b: np.stack([a, b], 1)),
    ("SliceChannel", {"num_outputs": 2}, [f32(2, 4)], lambda x: np.split(x, 2, 1)),
    (
        "split",
        {"num_outputs": 3, "axis": 1, "squeeze_axis": 1},
        [SMALL],
        lambda x: [x[:, i] for i in range(3)],
    ),
    ("SliceChannel", {"num_outputs": 1}, [A], lambda x: [x]),
    (
        "_split_v2",
        {"indices": (0, 1, 3), "axis": 2},
        [SMALL],
        lambda x: [x[..., :1], x[..., 1:3], x[..., 3:]],
    ),
    ("_split_v2", {"sections": 2, "axis": 2}, [SMALL], lambda x: np.split(x, 2, 2)),
    ("slice", {"begin": (0, 1), "end": (2, 3)}, [SMALL], lambda x: x[0:2, 1:3]),
    (
        "slice",
        {"begin": (None, -1), "end": (None, 0), "step": (1, -1)},
        [SMALL],
        lambda x: x[:, -1:0:-1],
    ),
    (
        "slice",
        {"begin": "(None, None)", "end": (None, None), "step": (None, -1)},
        [SMALL],
        lambda x: x[:, ::-1],
    ),
    ("slice_axis", {"axis": 1, "begin": 1, "end": None}, [SMALL], lambda x: x[:, 1:]),
    ("slice_axis", {"axis": -1, "begin": -3, "end": -1}, [SMALL], lambda x: x[..., -3:-1]),
    ("slice_like", {}, [FOUR, f32(1, 2, 3, 4)], lambda x, y: x[:1, :2, :3, :4]),
    ("slice_like", {"axes": (2, -1)}, [FOUR, f32(1, 2, 3, 4)], lambda x, y: x[:, :, :3, :4]),
    ("tile", {"reps": (2, 1, 3)}, [A], lambda x: np.tile(x, (2, 1, 3))),
    ("tile", {"reps": (2,)}, [A], lambda x: np.tile(x, 2)),
    ("repeat", {"repeats": 2, "axis": 1}, [SMALL], lambda x: x.repeat(2, 1)),
    ("repeat", {"repeats": 3, "axis": -1}, [SMALL], lambda x: x.repeat(3, -1)),
    ("repeat", {"repeats": 2}, [A], lambda x: x.repeat(2)),
    (
        "Pad",
        {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 2, 3, 0), "constant_value": 2.5},
        [FOUR],
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), constant_values=2.5),
    ),
    *(
        (
            "pad",
            {"mode": mode, "pad_width": (0, 0, 0, 0, 1, 2, 3, 0)},
            [FOUR],
            lambda x, mode=mode: np.pad(x, ((0, 0), (0, 0), (1, 2), (3, 0)), mode),
        )
        for mode in ("edge", "reflect")
    ),
    ("reverse", {"axis": (0, 2)}, [SMALL], lambda x: x[::-1, :, ::-1]),
    ("flip", {"axis": 1}, [SMALL], lambda x: x[:, ::-1]),
    (
        "depth_to_space",
        {"block_size": 2},
        [f32(1, 8, 2, 3)],
        lambda x: x.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6),
    ),
    (
        "space_to_depth",
        {"block_size": 2},
        [f32(1, 2, 4, 6)],
        lambda x: x.reshape(1, 2, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3),
    ),
    ("shape_array", {}, [SMALL], lambda x: np.array(x.shape)),
    ("size_array", {}, [SMALL], lambda x: np.array([x.size])),
    ("_np_roll", {"shift": 2, "axis": 1}, [SMALL], lambda x: np.roll(x, 2, 1)),
    ("_np_roll", {"shift": (-1,)}, [A], lambda x: np.roll(x, -1)),
]
