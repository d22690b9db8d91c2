"""Rules of what layers are made of: products, convolutions, pooling, normalization, attention."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from .running import Batch, Case, bools, floats, ints, positive

A = torch.ops.aten


def products() -> list[Case]:
    x, y, v = floats(2, 3, 4), floats(2, 4, 5), floats(4)
    return [
        Case("mm", torch.mm, [x[0], y[0]]),
        Case("bmm", torch.bmm, [x, y]),
        Case("matmul", torch.matmul, [x[None], y]),
        Case("matmul by a vector", lambda x, v: (x @ v, v @ x.mT, v @ v), [x, v]),
        Case("matmul of ints", torch.matmul, [ints(2, 3), ints(3, 2)]),
        Case(
            "matmul of int8",
            torch.matmul,
            [ints(2, 3, dtype=torch.int8).int().to(torch.int16), ints(3, 2, dtype=torch.int16)],
        ),
        Case("mv", torch.mv, [x[0], v]),
        Case("dot", torch.dot, [v, v]),
        Case("outer", torch.outer, [v, v]),
        Case("addmm", torch.addmm, [floats(5), x[0], y[0]]),
        Case(
            "addmm scaled",
            lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2),
            [floats(3, 5), x[0], y[0]],
        ),
        Case(
            "baddbmm",
            lambda b, x, y: torch.baddbmm(b, x, y, beta=0.5, alpha=2),
            [floats(2, 3, 5), x, y],
        ),
        Case(
            "baddbmm without beta",
            lambda b, x, y: torch.baddbmm(b, x, y, beta=0),
            [floats(2, 3, 5), x, y],
        ),
        Case("addbmm", torch.addbmm, [floats(3, 5), x, y]),
        Case("linear", F.linear, [x, floats(6, 4), floats(6)]),
        Case("linear of rank 2", F.linear, [x[0], floats(6, 4), floats(6)]),
        Case("linear without bias", F.linear, [x, floats(6, 4)]),
        Case("linear of a vector", F.linear, [v, floats(6, 4), floats(6)]),
        Case("linear f16", F.linear, [x.half(), floats(6, 4).half()]),
        Case("einsum", lambda x, y: torch.einsum("bij,bjk->bki", x, y), [x, y]),
        Case("einsum traces", lambda x: torch.einsum("bii->b", x), [floats(2, 3, 3)]),
        Case("einsum of sizes 1", lambda x, y: torch.einsum("bij,bjk", x[:1], y), [x, y]),
        Case("einsum f16", lambda x, y: torch.einsum("...ij,...jk", x, y), [x.half(), y.half()]),
        Case("einsum bf16", lambda x: torch.einsum("bij,bkj->bik", x, x), [x.bfloat16()]),
        Case(
            "einsum i8", lambda x: torch.einsum("bij, bkj -> bik", x, x), [(9 * x).to(torch.int8)]
        ),
        Case("einsum of three", lambda x: torch.einsum("bi,bj,bk->ijk", x, x, x), [x[0]]),
        Case("bilinear", F.bilinear, [x, x[..., :2], floats(5, 4, 2), floats(5)]),
        Case("tensordot", lambda x, y: torch.tensordot(x, y, 1), [x, y[0]]),
        Case("cdist", torch.cdist, [x, floats(2, 5, 4)]),
        *[
            Case(f"cdist {p}", lambda x, p=p: torch.cdist(x, x + 1, p), [x])
            for p in (0.0, 1.0, 3.0, float("inf"))
        ],
        Case("cdist of nothing", lambda x: torch.cdist(x, x, float("inf")), [floats(3, 0)]),
        Case("det", torch.linalg.det, [floats(2, 3, 3)]),
        Case("pdist", lambda x: F.pdist(x), [floats(4, 3)]),
        Case("linalg.cross", torch.linalg.cross, [floats(2, 3), floats(2, 3)]),
    ]


def convolutions() -> list[Case]:
    x, w = floats(2, 4, 6, 7), floats(6, 4, 3, 3)
    turned = floats(4, 3, 3, 2)
    return [
        Case("conv1d", F.conv1d, [floats(2, 4, 9), floats(6, 4, 3), floats(6)]),
        Case("conv2d", lambda x, w: F.conv2d(x, w, stride=2, padding=(1, 2)), [x, w]),
        Case("conv2d dilated", lambda x, w: F.conv2d(x, w, dilation=2, padding=2), [x, w]),
        Case("conv2d depthwise", lambda x, w: F.conv2d(x, w, groups=4), [x, floats(4, 1, 3, 3)]),
        Case("conv2d same", lambda x, w: F.conv2d(x, w, padding="same"), [x, floats(6, 4, 3, 2)]),
        Case("conv2d unbatched", F.conv2d, [x[0], w]),
        Case("conv3d", F.conv3d, [floats(1, 2, 4, 4, 4), floats(3, 2, 2, 2, 2), floats(3)]),
        Case("conv_transpose2d", F.conv_transpose2d, [x, turned, floats(3)]),
        Case(
            "conv_transpose2d strided",
            lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1),
            [x, turned],
        ),
        Case(
            "conv_transpose2d groups",
            lambda x, w: F.conv_transpose2d(x, w, None, (2, 1), 0, 0, 2),
            [x, turned],
        ),
        Case("conv_transpose1d", F.conv_transpose1d, [floats(1, 2, 5), floats(2, 3, 3)]),
        Case(
            "col2im",
            lambda x: A.col2im(x, [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]),
            [floats(2, 12, 12)],
        ),
        Case(
            "col2im strided",
            lambda x: A.col2im(x, [5, 5], [2, 2], [2, 2], [1, 1], [2, 2]),
            [floats(1, 8, 9)],
        ),
        Case("unfold", lambda x: F.unfold(x, (2, 3)), [x]),
        Case("unfold of nothing", lambda x: F.unfold(x, (2, 3)), [x[:0]]),
        Case("unfold unbatched", lambda x: F.unfold(x, (2, 3), 2, 1, 2), [x[0]]),
        Case("unfold strided", lambda x: F.unfold(x, (2, 3), 2, 1, 2), [x]),
    ]


def pools() -> list[Case]:
    x1, x2, x3 = floats(2, 3, 10), floats(2, 3, 8, 10), floats(1, 2, 4, 6, 5)
    functions = {
        "max_pool2d": lambda x: F.max_pool2d(x, 2),
        "max_pool2d padded": lambda x: F.max_pool2d(x, 3, 2, 1),
        "max_pool2d ceil": lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True),
        "max_pool2d dilated": lambda x: F.max_pool2d(x, (2, 3), 1, (1, 1), (2, 1)),
        "max_pool2d indices": lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
        "max_pool2d unbatched": lambda x: F.max_pool2d(x[0], 2),
        "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
        "avg_pool2d padded": lambda x: F.avg_pool2d(x, 3, 2, 1),
        "avg_pool2d without pad": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        "avg_pool2d divisor": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=4),
        "avg_pool2d ceil": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
        "adaptive_avg_pool2d 1": lambda x: F.adaptive_avg_pool2d(x, 1),
        "adaptive_avg_pool2d even": lambda x: F.adaptive_avg_pool2d(x, (4, 5)),
        "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (3, 7)),
        "adaptive_avg_pool2d one axis": lambda x: F.adaptive_avg_pool2d(x, (None, 3)),
        "adaptive_avg_pool2d unbatched": lambda x: F.adaptive_avg_pool2d(x[0], (3, 7)),
        "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (3, 7)),
        "adaptive_max_pool2d indices": lambda x: F.adaptive_max_pool2d(x, (4, 5), True),
        "lp_pool2d": lambda x: F.lp_pool2d(x, 2, 2),
        "local_response_norm": lambda x: F.local_response_norm(x, 3),
    }
    cases = [Case(name, function, [x2]) for name, function in functions.items()]
    cases += [
        Case("max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), [x1]),
        Case("max_pool3d", lambda x: F.max_pool3d(x, 2, return_indices=True), [x3]),
        Case("avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2), [x1]),
        Case("avg_pool3d", lambda x: F.avg_pool3d(x, 2), [x3]),
        Case(
            "adaptive_avg_pool1d",
            lambda x: (F.adaptive_avg_pool1d(x, 1), F.adaptive_avg_pool1d(x, 3)),
            [x1],
        ),
        Case("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, (2, 1, 2)), [x3]),
        Case("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 5), [x1]),
        Case("adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x, 2), [x3[..., :4]]),
        Case("max_pool2d f16", lambda x: F.max_pool2d(x, 2), [x2.half()]),
    ]
    return cases


def resizes() -> list[Case]:
    x1, x2, x3 = floats(1, 2, 5), floats(1, 2, 4, 5), floats(1, 1, 3, 4, 2)
    cases = []
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        for to in ({"size": (7, 3)}, {"scale_factor": 2.0}, {"scale_factor": (1.7, 0.6)}):
            for corners in (None,) if mode.startswith("n") else (False, True):
                cases.append(
                    Case(
                        f"{mode} {to} {corners}",
                        lambda x, mode=mode, to=to, corners=corners: F.interpolate(
                            x, **to, mode=mode, align_corners=corners
                        ),
                        [x2],
                    )
                )
    x4 = floats(1, 1, 10, 20) / 8
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        # Products that are about whole numbers, and lengths that stay what they are.
        for to in (
            {"scale_factor": (1.1, 0.9)},
            {"scale_factor": (0.4, 2.3)},
            {"scale_factor": (1 / 3, 1.2)},
            {"scale_factor": (1.05, 0.7)},
            {"size": (11, 52)},
            {"size": (30, 5)},
        ):

            def uneven(x, mode=mode, to=to):
                return F.interpolate(x, **to, mode=mode)

            cases.append(Case(f"{mode} {to}", uneven, [x4]))
    grid = torch.stack([floats(1, 3, 3), floats(1, 3, 3)], -1).clamp(-1.2, 1.2)
    return [
        *cases,
        *[
            Case(
                f"{mode} antialiased",
                lambda x, mode=mode: F.interpolate(x, (3, 4), mode=mode, antialias=True),
                [floats(1, 2, 7, 6)],
            )
            for mode in ("bilinear", "bicubic")
        ],
        *[
            # Beyond what bytes have, too, where white is beside black.
            Case(
                f"{mode} of bytes",
                lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode),
                [torch.tensor([[[[0, 255, 255, 3], [255, 9, 0, 0]]]], dtype=torch.uint8)],
            )
            for mode in ("bilinear", "bicubic")
        ],
        Case("area", lambda x: F.interpolate(x, (3, 3), mode="area"), [x2]),
        Case("nearest 1d", lambda x: F.interpolate(x, 9), [x1]),
        Case("linear 1d", lambda x: F.interpolate(x, 9, mode="linear"), [x1]),
        Case("nearest 3d", lambda x: F.interpolate(x, scale_factor=2), [x3]),
        Case("trilinear", lambda x: F.interpolate(x, (4, 3, 4), mode="trilinear"), [x3]),
        *[
            Case(
                f"grid_sample {mode} {padding}",
                lambda x, g, mode=mode, padding=padding: F.grid_sample(
                    x, g, mode, padding, align_corners=False
                ),
                [x2, grid],
            )
            for mode in ("bilinear", "nearest", "bicubic")
            for padding in ("zeros", "border", "reflection")
        ],
        Case(
            "affine_grid",
            lambda t: F.affine_grid(t, [1, 1, 3, 4], align_corners=False),
            [floats(1, 2, 3)],
        ),
    ]


def norms() -> list[Case]:
    x, w, b = floats(2, 4, 3, 5), positive(4), floats(4)
    mean, var = floats(4), positive(4)
    return [
        Case(
            "layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b), [x, positive(5), floats(5)]
        ),
        Case("layer_norm of two axes", lambda x: F.layer_norm(x, (3, 5)), [x]),
        Case("layer_norm f16", lambda x: F.layer_norm(x, (5,)), [x.half()]),
        Case("native_layer_norm", lambda x: A.native_layer_norm(x, [5], None, None, 1e-5), [x]),
        Case(
            "rms_norm",
            lambda x, w: (F.rms_norm(x, (5,), w, 1e-5), F.rms_norm(x, (5,))),
            [x, positive(5)],
        ),
        Case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), [x, w, b]),
        Case("group_norm without weights", lambda x: F.group_norm(x, 4), [x]),
        Case(
            "native_group_norm",
            lambda x, w, b: A.native_group_norm(x, w, b, 2, 4, 15, 2, 1e-5),
            [x, w, b],
        ),
        Case("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), [x, w, b]),
        Case("instance_norm without weights", lambda x: F.instance_norm(x), [x]),
        Case("batch_norm", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), [x, mean, var, w, b]),
        Case("batch_norm without weights", lambda x, m, v: F.batch_norm(x, m, v), [x, mean, var]),
        Case(
            "batch_norm of rank 2", lambda x, m, v: F.batch_norm(x, m, v), [x[..., 0, 0], mean, var]
        ),
        Case("batch_norm of the batch", lambda x: F.batch_norm(x, None, None, training=True), [x]),
    ]


def attentions() -> list[Case]:
    q, k, v = floats(2, 4, 3, 8), floats(2, 4, 5, 8), floats(2, 4, 5, 6)
    s = F.scaled_dot_product_attention
    blocked = torch.zeros(3, 5, dtype=torch.bool)
    blocked[:2, :3] = True
    return [
        Case("attention", s, [q, k, v]),
        Case("attention scaled", lambda q, k, v: s(q, k, v, scale=0.3), [q, k, v]),
        Case("attention turned", lambda q, k, v: s(q, k, v, scale=-0.3), [q, k, v]),
        Case("attention causal", lambda q: s(q, q, q, is_causal=True), [q]),
        Case("attention causal, not square", lambda q, k, v: s(q, k, v, is_causal=True), [q, k, v]),
        Case("attention with a mask", lambda q, k, v, m: s(q, k, v, m), [q, k, v, floats(3, 5)]),
        Case(
            "attention with masks", lambda q, k, v, m: s(q, k, v, m), [q, k, v, floats(2, 1, 3, 5)]
        ),
        Case(
            "attention with a bool mask",
            lambda q, k, v, m: s(q, k, v, m),
            [q, k, v, bools(2, 4, 3, 5) | (torch.arange(5) == 0)],
        ),
        *[
            Case(f"attention with a mask of {tuple(m.shape)}", s, [q, k, v, m])
            for m in (floats(1, 1), floats(3, 1), floats(4, 1, 1), floats(2, 4, 3, 1), bools(3, 1))
        ],
        Case(
            "attention of rank 5 with a mask of one key",
            lambda q, k, v, m: s(q[None], k[None], v[None], m[None]),
            [q, k, v, floats(2, 1, 3, 1)],
        ),
        Case("attention all masked", lambda q, k, v, m: s(q, k, v, m), [q, k, v, blocked]),
        Case("attention of rank 3", s, [q[0], k[0], v[0]]),
        Case("attention of rank 2", s, [q[0, 0], k[0, 0], v[0, 0]]),
        Case(
            "attention of rank 5",
            lambda q, k, v, m: s(q[None], k[None], v[None], m[None]),
            [q, k, v, floats(2, 1, 3, 5)],
        ),
        Case(
            "attention of groups",
            lambda q, k, v: s(q, k[:, :2], v[:, :2], enable_gqa=True),
            [q, k, v],
        ),
        Case("attention f16", s, [q.half(), k.half(), v.half()]),
    ]


def recurrent() -> list[Case]:
    torch.manual_seed(3)
    x = floats(5, 2, 4)
    modules = {
        "lstm": nn.LSTM(4, 3),
        "lstm of layers": nn.LSTM(4, 3, 2, bidirectional=True, batch_first=True),
        "lstm without bias": nn.LSTM(4, 3, bias=False),
        "gru": nn.GRU(4, 3),
        "gru of layers": nn.GRU(4, 3, 2, bidirectional=True, dropout=0.5),
        "rnn": nn.RNN(4, 3),
        "rnn relu": nn.RNN(4, 3, 2, nonlinearity="relu"),
        "lstm cell": nn.LSTMCell(4, 3),
        "gru cell": nn.GRUCell(4, 3),
    }
    cases = []
    for name, module in modules.items():
        weights = dict(module.eval().named_parameters())

        def call(x: torch.Tensor, weights: object, module: nn.Module = module) -> object:
            return torch.func.functional_call(module, weights, (x,))

        cases.append(Case(name, call, [x[0] if "cell" in name else x, weights]))
    lstm = nn.LSTM(4, 3)
    states = (floats(1, 2, 3), floats(1, 2, 3))

    def with_state(x: torch.Tensor, state: object, weights: object) -> object:
        return torch.func.functional_call(lstm, weights, (x, state))

    return [
        *cases,
        Case("lstm with a state", with_state, [x, states, dict(lstm.named_parameters())]),
    ]


def losses() -> list[Case]:
    cases = []
    for shape in ((3,), (5, 3), (2, 3, 4, 2)):
        scores, shares = floats(*shape), floats(*shape).softmax(0)
        labels = torch.tensor(1)
        if len(shape) > 1:
            labels = torch.arange(scores.numel() // 3).reshape(shape[:1] + shape[2:]) % 4
            labels = torch.where(labels == 3, -100, labels)
        for reduction in ("mean", "sum", "none"):
            for smoothing, weight in ((0.0, None), (0.0, positive(3)), (0.2, positive(3))):

                def call(x, target, options=(weight, reduction, smoothing)):
                    weight, reduction, smoothing = options
                    return F.cross_entropy(
                        x, target, weight, reduction=reduction, label_smoothing=smoothing
                    )

                name = f"cross entropy {shape} {reduction} {smoothing} {weight is not None}"
                cases += [Case(name, call, [scores, labels])]
                cases += [Case(f"{name} of shares", call, [scores, shares])]
    scores, labels = floats(3, 4), torch.tensor([[2, 0, -1, 1], [-1, 3, 2, 1], [3, 1, 0, 2]])
    for reduction in ("mean", "sum", "none"):

        def margin(x, target, reduction=reduction):
            return F.multilabel_margin_loss(x, target, reduction=reduction)

        cases.append(Case(f"labels' margins {reduction}", margin, [scores, labels]))
        cases.append(Case(f"a row's margins {reduction}", margin, [scores[0], labels[0]]))
    return cases


TABLES = {
    "losses": losses(),
    "layers": [*products(), *convolutions(), *pools(), *resizes()],
    "norms": [*norms(), *attentions(), *recurrent()],
}
BATCHES = {name: Batch(cases) for name, cases in TABLES.items()}


@pytest.mark.parametrize(
    ("table", "index"),
    [(table, index) for table, cases in TABLES.items() for index in range(len(cases))],
    ids=[case.name for cases in TABLES.values() for case in cases],
)
def test_rule(table: str, index: int) -> None:
    BATCHES[table].check(index)
