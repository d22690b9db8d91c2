"""Cases: activations and losses."""

import numpy as np
import torch
import torch.nn.functional as F

from .data import SMALL, Case, f32, of_torch


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


ACTIVATIONS: list[Case] = [
    *(
        ("Activation", {"act_type": kind}, [SMALL], of_torch(function))
        for kind, function in {
            "relu": F.relu,
            "sigmoid": torch.sigmoid,
            "tanh": torch.tanh,
            "softrelu": F.softplus,
            "softsign": F.softsign,
            "mish": F.mish,
            "log_sigmoid": F.logsigmoid,
        }.items()
    ),
    ("LeakyReLU", {}, [SMALL], of_torch(lambda x: F.leaky_relu(x, 0.25))),
    ("LeakyReLU", {"act_type": "elu", "slope": 0.3}, [SMALL], of_torch(lambda x: F.elu(x, 0.3))),
    ("LeakyReLU", {"act_type": "selu"}, [SMALL], of_torch(F.selu)),
    ("LeakyReLU", {"act_type": "gelu"}, [SMALL], of_torch(F.gelu)),
    ("LeakyReLU", {"act_type": "rrelu"}, [SMALL], of_torch(lambda x: F.leaky_relu(x, 0.2295))),
    ("LeakyReLU", {"act_type": "prelu"}, [SMALL, f32(3)], of_torch(F.prelu)),
    ("LeakyReLU", {"act_type": "prelu"}, [SMALL, f32(1)], of_torch(F.prelu)),
    ("Dropout", {"p": 0.7}, [SMALL], lambda x: x),
    ("softmax", {}, [SMALL], softmax),
    ("softmax", {"axis": 1, "temperature": 2.0}, [SMALL], lambda x: softmax(x / 2, 1)),
    ("log_softmax", {"axis": -1}, [SMALL], lambda x: np.log(softmax(x))),
    (
        "softmax",
        {"use_length": True},
        [SMALL, np.array([[1, 2, 3], [4, 4, 1]], "int32")],
        lambda x, n: np.stack(
            [
                [np.pad(softmax(x[i, j, : n[i, j]]), (0, 4 - n[i, j])) for j in range(3)]
                for i in range(2)
            ]
        ),
    ),
    ("softmin", {}, [SMALL], lambda x: softmax(-x)),
    (
        "masked_softmax",
        {"temperature": 2.0},
        [SMALL, np.arange(24).reshape(2, 3, 4) % 3 > 0],
        lambda x, m: softmax(np.where(m, x / 2, -np.inf)),
    ),
    (
        "masked_log_softmax",
        {},
        [SMALL, np.arange(24).reshape(2, 3, 4) % 3 > 0],
        lambda x, m: np.where(m, np.log(softmax(np.where(m, x, -np.inf)) + 1e-30), -np.inf),
    ),
    ("SoftmaxActivation", {"mode": "channel"}, [SMALL], lambda x: softmax(x, 1)),
    (
        "SoftmaxActivation",
        {},
        [SMALL],
        lambda x: softmax(x.reshape(2, 12)).reshape(2, 3, 4),
    ),
    ("SoftmaxOutput", {}, [f32(2, 5), f32(2)], lambda x, y: softmax(x)),
    (
        "SoftmaxOutput",
        {},
        [SMALL, f32(2)],
        lambda x, y: softmax(x.reshape(2, 12)).reshape(2, 3, 4),
    ),
    ("SoftmaxOutput", {"multi_output": True}, [SMALL, f32(2, 4)], lambda x, y: softmax(x, 1)),
    ("Softmax", {"preserve_shape": True}, [SMALL, f32(2, 3)], lambda x, y: softmax(x)),
    ("LinearRegressionOutput", {}, [f32(2, 3), f32(2, 3)], lambda x, y: x),
    ("MAERegressionOutput", {"grad_scale": 2}, [f32(2, 1), f32(2)], lambda x, y: x),
    (
        "LogisticRegressionOutput",
        {},
        [f32(2, 3), f32(2, 3)],
        lambda x, y: 1 / (1 + np.exp(-x)),
    ),
    ("SVMOutput", {}, [f32(2, 3), f32(2)], lambda x, y: x),
    (
        "softmax_cross_entropy",
        {},
        [f32(3, 4), np.array([0, 3, 1], "float32")],
        lambda x, y: -np.log(softmax(x))[np.arange(3), y.astype(int)].sum(keepdims=True),
    ),
    ("MakeLoss", {"grad_scale": 0.5}, [SMALL], lambda x: x),
    ("BlockGrad", {}, [SMALL], lambda x: x),
    ("identity", {}, [SMALL], lambda x: x),
]
