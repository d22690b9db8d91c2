"""Cases of products, convolutions, pooling, normalization, recurrent layers and losses."""

from __future__ import annotations

from typing import Any

import numpy
import torch
from torch.nn import functional as F

from mx.sol.operators import DOMAIN

from .cases import case, h, ints, p, r
from .layers_of_torch import recurrent

case("MatMul", r(2, 3), r(3, 4), torch=torch.matmul)
case("MatMul", r(2, 1, 2, 3), r(4, 3, 2), torch=torch.matmul)
case("MatMul", r(4, 2, 3), r(3, 2), torch=torch.matmul)
case("MatMul", r(3), r(2, 3, 2), torch=torch.matmul)
case("MatMul", r(2, 2, 3), r(3), torch=torch.matmul)
case("MatMul", r(3), r(3), torch=torch.matmul)
case("Gemm", r(2, 3), r(3, 4), r(4), alpha=0.5, beta=2.0, torch=lambda a, b, c: 0.5 * a @ b + 2 * c)
case("Gemm", r(3, 2), r(4, 3), r(2, 1), transA=1, transB=1, torch=lambda a, b, c: a.T @ b.T + c)
case("Gemm", r(3, 2), r(3, 4), transA=1, torch=lambda a, b: a.T @ b)
case("Gemm", r(2, 3), r(4, 3), transB=1, torch=lambda a, b: a @ b.T)
case("Einsum", r(2, 3, 4), r(2, 4, 2), equation="bij,bjk->bik", torch=torch.matmul)
case("Einsum", r(2, 3), r(3), equation="ij,j->", torch=lambda a, b: (a @ b).sum())
case("Einsum", r(2, 3, 2), equation="ijk->ki", torch=lambda x: x.sum(1).T)


def _einsum(equation: str) -> Any:
    return lambda *x: torch.einsum(equation, *x)


for equation, *shapes in (
    ("ii", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("aibib->a", (2, 3, 4, 3, 4)),
    ("iii,ij->ij", (3, 3, 3), (3, 2)),
    ("...ij,jk->...ik", (2, 4, 3), (3, 2)),
    ("i...,ij->...j", (3, 2, 4), (3, 2)),
    ("...j,i...kk->...i", (5, 2), (3, 1, 4, 4)),
    ("...i,i...j->...", (2, 1, 3), (3, 2, 4, 2)),
):
    case("Einsum", *(r(*shape) for shape in shapes), equation=equation, torch=_einsum(equation))

case(
    "Conv",
    r(2, 3, 5, 5),
    r(4, 3, 3, 3),
    r(4),
    pads=[1, 1, 1, 1],
    strides=[2, 2],
    torch=lambda x, w, b: F.conv2d(x, w, b, 2, 1),
)
case(
    "Conv",
    r(1, 4, 6, 5),
    r(4, 2, 2, 3),
    group=2,
    dilations=[2, 1],
    pads=[0, 1, 1, 0],
    torch=lambda x, w: F.conv2d(F.pad(x, (1, 0, 0, 1)), w, None, 1, 0, (2, 1), 2),
)
case(
    "Conv",
    r(1, 2, 5),
    r(3, 2, 3),
    auto_pad="SAME_UPPER",
    torch=lambda x, w: F.conv1d(x, w, padding=1),
)
case(
    "Conv",
    r(1, 3, 3, 3, 3),
    r(3, 1, 2, 2, 2),
    group=3,
    auto_pad="VALID",
    torch=lambda x, w: F.conv3d(x, w, groups=3),
)
case(
    "ConvTranspose",
    h(1, 4, 3, 3),
    h(4, 2, 3, 3),
    h(4),
    group=2,
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    output_padding=[1, 1],
    torch=lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1, 2),
)
case(
    "Conv",
    r(1, 2, 6, 5),
    r(3, 2, 3, 2),
    auto_pad="SAME_LOWER",
    kernel_shape=[3, 2],
    strides=[2, 2],
    torch=lambda x, w: F.conv2d(F.pad(x, (1, 0, 1, 0)), w, None, 2),
)
case(
    "ConvTranspose",
    h(1, 2, 4),
    h(2, 3, 5),
    auto_pad="SAME_UPPER",
    kernel_shape=[5],
    strides=[2],
    torch=lambda x, w: F.conv_transpose1d(x, w, stride=2)[:, :, 1:9],
)
case(
    "ConvTranspose",
    h(1, 2, 4, 3),
    h(2, 3, 3, 2),
    h(3),
    output_shape=[7, 7],
    strides=[2, 3],
    auto_pad="SAME_LOWER",
    torch=lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 3))[:, :, 1:8, 1:8],
)
case(
    "ConvTranspose",
    r(1, 2, 4),
    r(2, 3, 3),
    dilations=[2],
    torch=lambda x, w: F.conv_transpose1d(x, w, dilation=2),
)
case(
    "MaxPool",
    r(1, 2, 5, 5),
    kernel_shape=[3, 3],
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    torch=lambda x: F.max_pool2d(x, 3, 2, 1),
)
case(
    "MaxPool",
    r(1, 2, 7),
    kernel_shape=[2],
    dilations=[2],
    ceil_mode=1,
    strides=[2],
    torch=lambda x: F.max_pool1d(x, 2, 2, 0, 2, True),
)
case(
    "MaxPool",
    r(1, 2, 1, 5),
    kernel_shape=[2, 2],
    strides=[2, 2],
    ceil_mode=1,
    torch=lambda x: F.max_pool2d(x, 2, 2, 0, 1, True),
)
case(
    "AveragePool",
    r(1, 2, 1, 5),
    kernel_shape=[2, 2],
    strides=[2, 2],
    ceil_mode=1,
    torch=lambda x: F.avg_pool2d(x, 2, 2, 0, True),
)
case(
    "AveragePool",
    r(1, 2, 5, 5),
    kernel_shape=[3, 3],
    strides=[2, 2],
    pads=[1, 1, 1, 1],
    count_include_pad=1,
    torch=lambda x: F.avg_pool2d(x, 3, 2, 1),
)
case(
    "AveragePool",
    r(1, 2, 6),
    kernel_shape=[3],
    strides=[2],
    pads=[1, 1],
    ceil_mode=1,
    torch=lambda x: F.avg_pool1d(x, 3, 2, 1, True, False),
)


def _same_means(x: Any, counts_pads: int) -> Any:
    """Of windows of 3 by 3 elements, every second one, behind pads below and on both sides."""
    counted = torch.full_like(x, 1.0)
    sums, counts = (F.avg_pool2d(F.pad(one, (1, 1, 0, 1)), 3, 2) for one in (x, counted))
    return sums if counts_pads else sums / counts


for kept in (0, 1):
    case(
        "AveragePool",
        r(1, 2, 6, 5),
        kernel_shape=[3, 3],
        strides=[2, 2],
        auto_pad="SAME_UPPER",
        count_include_pad=kept,
        torch=lambda x, kept=kept: _same_means(x, kept),
    )
case(
    "MaxPool",
    r(1, 2, 5, 4),
    kernel_shape=[2, 2],
    storage_order=1,
    outputs=2,
    torch=lambda x: F.max_pool2d(x, 2, 1),
)
case("GlobalAveragePool", r(2, 3, 2, 2), torch=lambda x: x.mean((2, 3), True))
case("GlobalMaxPool", r(2, 3, 2, 2), torch=lambda x: x.amax((2, 3), True))
case(
    "GlobalLpPool",
    p(2, 3, 2, 2),
    executed=False,
    p=3,
    torch=lambda x: (x**3).sum((2, 3), True) ** (1 / 3),
)
case(
    "LpPool",
    p(1, 2, 4, 4),
    kernel_shape=[2, 2],
    strides=[2, 2],
    p=2,
    torch=lambda x: F.lp_pool2d(x, 2, 2),
)
case(
    "LpPool",
    p(1, 2, 6, 4),
    kernel_shape=[3, 3],
    strides=[2, 3],
    p=3,
    ceil_mode=1,
    executed=False,
    torch=lambda x: F.lp_pool2d(F.pad(x, (0, 2, 0, 1)), 3, 3, (2, 3)),
)
case(
    "LpPool",
    p(1, 2, 6),
    kernel_shape=[3],
    strides=[2],
    auto_pad="SAME_UPPER",
    torch=lambda x: F.lp_pool1d(F.pad(x, (0, 1)), 2, 3, 2),
)
case(
    "MaxUnpool",
    r(1, 1, 2),
    ints(1, 2).reshape(1, 1, 2),
    kernel_shape=[2],
    strides=[2],
    torch=lambda x, i: F.max_unpool1d(x, i, 2),
)

case(
    "BatchNormalization",
    r(4, 3, 2),
    p(3),
    r(3),
    r(3),
    p(3),
    fixed=(3, 4),
    torch=lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b),
)
case(
    "BatchNormalization",
    r(4, 3, 2),
    p(3),
    r(3),
    r(3),
    p(3),
    fixed=(3, 4),
    training_mode=1,
    outputs=3,
    scored=1,
    torch=lambda x, s, b, m, v: F.batch_norm(x, None, None, s, b, True),
)
case(
    "BatchNormTraining",
    r(4, 3, 2),
    p(3),
    r(3),
    r(3),
    p(3),
    fixed=(3, 4),
    domain=DOMAIN,
    torch=lambda x, s, b, m, v: F.batch_norm(x, None, None, s, b, True),
)
case(
    "LayerNormalization", r(2, 3, 4), p(4), r(4), torch=lambda x, s, b: F.layer_norm(x, (4,), s, b)
)
case(
    "LayerNormalization",
    r(2, 3, 4),
    p(3, 4),
    axis=1,
    stash_type=11,
    torch=lambda x, s: F.layer_norm(x, (3, 4), s),
)
case("LayerNormalization", r(2, 3, 4), p(1), axis=1, torch=lambda x, s: F.layer_norm(x, (3, 4)) * s)
case("RMSNormalization", r(2, 3, 4), p(4), torch=lambda x, s: F.rms_norm(x, (4,), s, 1e-5))
case(
    "InstanceNormalization",
    r(2, 3, 4),
    p(3),
    r(3),
    torch=lambda x, s, b: F.instance_norm(x, weight=s, bias=b),
)
case(
    "GroupNormalization",
    r(2, 4, 3),
    p(4),
    r(4),
    num_groups=2,
    stash_type=11,
    torch=lambda x, s, b: F.group_norm(x, 2, s, b),
)
case(
    "LRN",
    r(1, 5, 3),
    size=3,
    alpha=0.3,
    beta=0.6,
    bias=1.5,
    torch=lambda x: F.local_response_norm(x, 3, 0.3, 0.6, 1.5),
)
case("Dropout", r(2, 3), numpy.array(0.4), numpy.array(False), fixed=(1,), torch=lambda x, n, t: x)
case("DropoutTraining", r(4, 5), ints(3, 1), ratio=0.4, domain=DOMAIN)

case(
    "LSTM",
    r(3, 2, 4),
    r(1, 8, 4),
    r(1, 8, 2),
    r(1, 16),
    None,
    r(1, 2, 2),
    r(1, 2, 2),
    hidden_size=2,
    outputs=3,
    torch=recurrent("LSTM"),
)
case(
    "LSTM",
    r(3, 2, 4),
    r(2, 8, 4),
    r(2, 8, 2),
    hidden_size=2,
    direction="bidirectional",
    outputs=3,
    torch=recurrent("LSTM"),
)
case(
    "GRU", r(3, 2, 4), r(1, 6, 4), r(1, 6, 2), r(1, 12), None, r(1, 2, 2), hidden_size=2, outputs=2
)
case(
    "GRU",
    r(3, 2, 4),
    r(2, 6, 4),
    r(2, 6, 2),
    r(2, 12),
    hidden_size=2,
    outputs=2,
    direction="bidirectional",
    linear_before_reset=1,
    torch=recurrent("GRU"),
)
case(
    "RNN",
    r(3, 2, 4),
    r(1, 2, 4),
    r(1, 2, 2),
    r(1, 4),
    None,
    r(1, 2, 2),
    hidden_size=2,
    outputs=2,
    direction="reverse",
    torch=recurrent("RNN", is_reverse=True),
)

for operator, gates, states in (("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)):
    # Sequences of different lengths in both directions, batches in front, and clipped gates with
    # functions that take numbers.
    lengths = numpy.array([3, 1], "int32")
    inputs = [r(3, 2, 4), r(2, 2 * gates, 4), r(2, 2 * gates, 2), r(2, 4 * gates), lengths]
    inputs += [r(2, 2, 2)] * states
    kept = {"linear_before_reset": 1} if operator == "GRU" else {}
    given = {"hidden_size": 2, "direction": "bidirectional", "torch": recurrent(operator), **kept}
    case(operator, *inputs, outputs=states + 1, **given)
    if kept:
        case(operator, *inputs, hidden_size=2, outputs=2, direction="bidirectional")
    inputs = [r(2, 3, 4), r(1, 2 * gates, 4), r(1, 2 * gates, 2), r(1, 4 * gates), None]
    inputs += [r(2, 1, 2)] * states
    given = {"hidden_size": 2, "layout": 1, "direction": "reverse"}
    of_torch = recurrent(operator, is_reverse=True, is_batch_first=True)
    case(
        operator,
        *inputs,
        outputs=states + 1,
        executed=operator == "LSTM",
        torch=of_torch if operator != "GRU" else None,
        **given,
    )
    if kept:
        case(operator, *inputs, outputs=2, executed=False, torch=of_torch, **kept, **given)
    functions = {"LSTM": ["HardSigmoid", "Softsign", "ScaledTanh"], "GRU": ["Affine", "Elu"]}
    case(
        operator,
        *inputs[:4],
        outputs=states + 1,
        executed=False,
        clip=0.8,
        activations=functions.get(operator, ["LeakyRelu"]),
        activation_alpha=[0.3, 0.7],
        activation_beta=[0.4],
        **given,
    )
PEEPHOLES = [r(3, 2, 4), r(2, 8, 4), r(2, 8, 2), r(2, 16), None, r(2, 2, 2), r(2, 2, 2), r(2, 6)]
case("LSTM", *PEEPHOLES, hidden_size=2, direction="bidirectional", outputs=3)
case("LSTM", *PEEPHOLES[:4], hidden_size=2, direction="bidirectional", input_forget=1)
case(
    "GRU",
    r(3, 2, 4),
    r(1, 6, 4),
    r(1, 6, 2),
    r(1, 12),
    ints(2, 3).astype("int32"),
    linear_before_reset=1,
    activations=["Relu", "Sigmoid"],
    hidden_size=2,
    direction="reverse",
)

LABELS = ints([1, 0, 2], [2, 2, -1])
case("SoftmaxCrossEntropyLoss", r(2, 3), ints(1, 2), torch=lambda x, t: F.cross_entropy(x, t))
case(
    "SoftmaxCrossEntropyLoss",
    r(2, 3, 3),
    LABELS,
    p(3),
    fixed=(2,),
    ignore_index=-1,
    torch=lambda x, t, w: F.cross_entropy(x, t, w, ignore_index=-1),
)
case(
    "SoftmaxCrossEntropyLoss",
    r(2, 3, 3),
    LABELS,
    ignore_index=-1,
    reduction="none",
    torch=lambda x, t: F.cross_entropy(x, t, ignore_index=-1, reduction="none"),
)
case(
    "SoftmaxCrossEntropyLoss",
    r(2, 3),
    ints(1, 2),
    reduction="sum",
    outputs=2,
    torch=lambda x, t: (F.cross_entropy(x, t, reduction="sum"), x.log_softmax(1)),
)
for reduction in ("none", "sum", "mean"):
    given = {"ignore_index": -1, "reduction": reduction}
    case("SoftmaxCrossEntropyLoss", r(2, 3, 3), LABELS, p(3), outputs=2, **given)
    case("NegativeLogLikelihoodLoss", r(2, 3, 3), LABELS, p(3), **given)
    # torch has no gradients of weights of classes.
    case(
        "SoftmaxCrossEntropyLoss",
        r(2, 3, 3),
        LABELS,
        p(3),
        fixed=(2,),
        outputs=2,
        torch=lambda x, t, w, given=given: (F.cross_entropy(x, t, w, **given), x.log_softmax(1)),
        **given,
    )
    case(
        "NegativeLogLikelihoodLoss",
        r(2, 3, 3),
        LABELS,
        p(3),
        fixed=(2,),
        torch=lambda x, t, w, given=given: F.nll_loss(x, t, w, **given),
        **given,
    )
case("NegativeLogLikelihoodLoss", r(2, 3), ints(1, 2), torch=lambda x, t: F.nll_loss(x, t))
case(
    "Attention",
    r(1, 2, 3, 4),
    r(1, 2, 5, 4),
    r(1, 2, 5, 4),
    torch=lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
)
# Of which one query has no key.
MASK = numpy.array([[1, 1, 0, 1, 1], [0, 0, 0, 0, 0], [1, 0, 1, 0, 1]], bool)
for mask in (MASK, numpy.where(MASK, 0.5, -numpy.inf)):
    case(
        "Attention",
        r(1, 2, 3, 4),
        r(1, 2, 5, 4),
        r(1, 2, 5, 4),
        mask,
        fixed=(3,),
        torch=lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, mask),
    )
# The mask is asked for its gradient, too.
_attention = F.scaled_dot_product_attention
case("Attention", r(1, 2, 3, 4), r(1, 2, 5, 4), r(1, 2, 5, 4), r(3, 5), torch=_attention)
case(
    "Attention",
    r(1, 4, 3, 4),
    r(1, 2, 5, 4),
    r(1, 2, 5, 3),
    is_causal=1,
    scale=0.7,
    torch=lambda q, k, v: _attention(q, k, v, is_causal=True, scale=0.7, enable_gqa=True),
)


def _heads(x: Any, count: int) -> Any:
    return x.unflatten(2, (count, -1)).transpose(1, 2)


case(
    "Attention",
    r(2, 3, 8),
    r(2, 5, 4),
    r(2, 5, 6),
    q_num_heads=4,
    kv_num_heads=2,
    torch=lambda q, k, v: (
        _attention(_heads(q, 4), _heads(k, 2), _heads(v, 2), enable_gqa=True)
        .transpose(1, 2)
        .flatten(2)
    ),
)
case(
    "Attention",
    r(1, 2, 3, 4),
    r(1, 2, 5, 4),
    r(1, 2, 5, 4),
    softcap=1.5,
    torch=lambda q, k, v: (1.5 * torch.tanh(q @ k.mT / 2 / 1.5)).softmax(-1) @ v,
)


def _rotated(x: Any, angles: Any) -> Any:
    """The halves of the last axis as complex numbers that are turned."""
    turned = torch.complex(*x.chunk(2, -1)) * angles
    return torch.cat((turned.real, turned.imag), -1)


case(
    "RotaryEmbedding",
    h(1, 2, 3, 4),
    h(3, 2),
    h(3, 2),
    ints([0, 1, 2]),
    fixed=(1, 2),
    torch=lambda x, c, s, i: _rotated(x, torch.complex(c, s)[i[0]]),
)
case(
    "RotaryEmbedding",
    h(1, 2, 3, 8),
    h(4, 2),
    h(4, 2),
    ints([2, 0, 3]),
    rotary_embedding_dim=4,
    interleaved=1,
    fixed=(1, 2),
    torch=lambda x, c, s, i: torch.cat(
        (
            torch.view_as_real(
                torch.view_as_complex(x[..., :4].unflatten(-1, (2, 2))) * torch.complex(c, s)[i[0]]
            ).flatten(-2),
            x[..., 4:],
        ),
        -1,
    ),
)

case(
    "LayerNormalization", h(2, 3, 4), h(4), h(4), torch=lambda x, s, b: F.layer_norm(x, (4,), s, b)
)
case(
    "LayerNormalization",
    h(2, 3, 4),
    h(4),
    h(4),
    outputs=3,
    torch=lambda x, s, b: (
        F.layer_norm(x, (4,), s, b),
        x.mean(-1, True),
        (x.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt(),
    ),
)
case(
    "LayerNormalization",
    h(2, 3, 4),
    h(3, 1),
    axis=1,
    outputs=2,
    torch=lambda x, s: (F.layer_norm(x, (3, 4)) * s, x.mean((1, 2), True)),
)
case("RMSNormalization", h(2, 3, 4), h(4), torch=lambda x, s: F.rms_norm(x, (4,), s, 1e-5))
case(
    "RMSNormalization",
    r(2, 3, 4),
    h(4),
    torch=lambda x, s: F.rms_norm(x, (4,), s.to(x.dtype), 1e-5),
)
case(
    "CausalConvWithState",
    h(1, 2, 4),
    h(2, 1, 3),
    outputs=2,
    torch=lambda x, w: (F.conv1d(F.pad(x, (2, 0)), w, groups=2), x[:, :, 2:]),
)
case(
    "LinearAttention",
    h(1, 3, 4),
    h(1, 3, 4),
    h(1, 3, 4),
    None,
    -(h(1, 3, 4) ** 2),
    h(1, 3, 2),
    q_num_heads=2,
    kv_num_heads=2,
    outputs=2,
)
# Of no steps: the states stay what they were.
for operator, gates, states in (("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)):
    inputs = [r(0, 2, 4), r(2, 2 * gates, 4), r(2, 2 * gates, 2), r(2, 4 * gates), None]
    given = {"hidden_size": 2, "direction": "bidirectional", "outputs": states + 1}
    case(operator, *inputs, *[r(2, 2, 2)] * states, **given)
    case(operator, *inputs[:4], clip=0.8, **given)
