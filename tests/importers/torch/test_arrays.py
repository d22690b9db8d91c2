"""Rules of functions of whole arrays: shapes, indices, reductions, orders, new arrays."""

import pytest
import torch
import torch.nn.functional as F

from .running import Batch, Case, bools, floats, ints

A = torch.ops.aten
I64 = torch.int64
X = floats(2, 3, 4)


def shapes() -> list[Case]:
    functions = {
        "view": lambda x: x.view(6, 4),
        "view -1": lambda x: x.view(-1, 2),
        "reshape to 0-d": lambda x: x[0, 0, :1].reshape(()),
        "flatten": lambda x: x.flatten(1),
        "unflatten": lambda x: x.unflatten(2, (2, 2)),
        "permute": lambda x: x.permute(2, 0, 1),
        "transpose": lambda x: x.transpose(0, -1),
        "t": lambda x: x[0].t(),
        "mT": lambda x: x.mT,
        "movedim": lambda x: x.movedim(0, 2),
        "squeeze": lambda x: x[:1, :, :1].squeeze(),
        "squeeze dim": lambda x: x[:1].squeeze(0),
        "squeeze what is longer": lambda x: x.squeeze(0),
        "squeeze dims": lambda x: x[:1, :1].squeeze((0, 1)),
        "unsqueeze": lambda x: (x.unsqueeze(0), x.unsqueeze(-1), x[None, :, None]),
        "expand": lambda x: x[:, :1].expand(5, -1, 3, 4),
        "broadcast_to": lambda x: x[0, 0].broadcast_to(2, 3, 4),
        "cat": lambda x: torch.cat([x, x * 2], 1),
        "cat of types": lambda x: torch.cat([x.half(), x], -1),
        "cat with nothing": lambda x: torch.cat([x, x.new_empty(0)], 0),
        "stack": lambda x: torch.stack([x, x + 1], 1),
        "hstack": lambda x: torch.hstack([x, x]),
        "split": lambda x: x.split(2, 2),
        "split unevenly": lambda x: x.split(3, 2),
        "split with sizes": lambda x: x.split([1, 3], -1),
        "chunk": lambda x: x.chunk(3, 1),
        "tensor_split": lambda x: x.tensor_split(3, 2),
        "unbind": lambda x: x.unbind(1),
        "slice": lambda x: (x[:, 1:], x[..., ::2], x[:, -2:], x[:, :-1], x[1:2, 1, :3]),
        "narrow": lambda x: x.narrow(1, 1, 2),
        "select": lambda x: (x[1], x[:, -1], x.select(2, 0)),
        "flip": lambda x: (x.flip(0), x.flip(0, 2)),
        "roll": lambda x: (x.roll(1, 0), x.roll((1, -2), (1, 2)), x.roll(5)),
        "rot90": lambda x: x.rot90(1, (0, 1)),
        "repeat": lambda x: x.repeat(2, 1, 3, 1),
        "tile": lambda x: x.tile((2,)),
        "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
        "diagonal": lambda x: (x.diagonal(0, 1, 2), x.diagonal(1, 1, 2), x.diagonal(-1)),
        "diag": lambda x: (x[0].diag(), x[0, 0].diag()),
        "diag_embed": lambda x: torch.diag_embed(x),
        "tril": lambda x: (x.tril(), x.triu(), x.tril(1), x.triu(-1)),
        "as_strided": lambda x: (x * 1).as_strided((2, 2), (4, 1), 1),
        "unfold": lambda x: x.unfold(2, 2, 1),
        "meshgrid": lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"),
        "pixel_shuffle": lambda x: F.pixel_shuffle(x.reshape(1, 4, 2, 3), 2),
        "pixel_shuffle unbatched": lambda x: F.pixel_shuffle(x.reshape(4, 2, 3), 2),
        "pixel_unshuffle": lambda x: F.pixel_unshuffle(x.reshape(1, 1, 4, 6), 2),
        "channel_shuffle": lambda x: F.channel_shuffle(x.reshape(1, 4, 2, 3), 2),
        "block_diag": lambda x: torch.block_diag(x[0], x[1]),
        "kron": lambda x: torch.kron(x[0], x[1]),
        "clone": lambda x: x.clone().detach().contiguous(),
        "copy": lambda x: A.copy(x, x[0, 0]),
        "select_scatter": lambda x: (
            x.select_scatter(x[0], 0, 1),
            x.select_scatter(x[:, 0], 1, -1),
        ),
        "slice_scatter": lambda x: (
            x.slice_scatter(x[:, :2], 1, 1, 3),
            x.slice_scatter(x[:, :, :2], 2, 0, 4, 2),
            x.slice_scatter(x[:1], 0, -1),
        ),
        "diagonal_scatter": lambda x: x[0].diagonal_scatter(x[1, 0, :3]),
        "writes": lambda x: _written(x),
        "pad": lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 0, 0, 2), value=3.0), F.pad(x, (-1, 1))),
        "pad reflect": lambda x: (
            F.pad(x, (1, 2), "reflect"),
            F.pad(x[None], (1, 1, 2, 1), "reflect"),
        ),
        "pad replicate": lambda x: (
            F.pad(x, (1, 2), "replicate"),
            F.pad(x[None], (1, 1, 2, 1), "replicate"),
        ),
        "pad circular": lambda x: F.pad(x, (1, 2), "circular"),
        "pad bool": lambda x: F.pad(x > 0, (1, 1), value=True),
    }
    return [Case(name, function, [X]) for name, function in functions.items()]


def _written(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, 1] = 5
    y[0, :, 2:] += 1
    y[1, 0] = x[0, 0]
    y[x > 0.5] = 7
    return y.mul_(2)


def indices() -> list[Case]:
    x, i, j = X, torch.tensor([0, 2, 1, -1]), torch.tensor([[1], [0]])
    mask = bools(2, 3)
    at = ints(2, 3, 4, low=0, high=3)
    at0 = ints(2, 3, 4, low=0, high=2)
    return [
        Case("embedding", F.embedding, [ints(2, 5, low=0, high=7), floats(7, 3)]),
        Case("index_select", lambda x, i: x.index_select(1, i.abs()), [x, i]),
        Case("gather", lambda x, i: x.gather(1, i), [x, at]),
        Case("gather smaller", lambda x, i: x.gather(2, i[:1, :2, :1]), [x, at]),
        Case("take_along_dim", lambda x, i: x.take_along_dim(i, 1), [x, at]),
        Case("take", lambda x, i: x.take(i), [x, at]),
        Case("index one axis", lambda x, i: (x[:, i], x[..., i.abs()]), [x, i]),
        Case("index first two", lambda x, i, j: x[j, i], [x, i, j]),
        Case("index last two", lambda x, i, j: x[:, i, j], [x, i, j]),
        Case("index apart", lambda x, i, j: x[j, :, i], [x, i, j]),
        Case("index all", lambda x, i: x[0, i, i.abs()], [x, i]),
        Case("index with a list", lambda x: x[[0, 1], [1, 2]], [x]),
        Case(
            "put one axis",
            lambda x, i: A.index_put(x, [None, i], x[:, :2]),
            [x, torch.tensor([1, 2])],
        ),
        Case("put", lambda x, i: x.index_put((i[:2].abs() % 2, i[:2].abs()), x[0, :2]), [x, i]),
        Case("put accumulates", lambda x, i: x.index_put((i * 0, i), x[0, :1], True), [x, i]),
        Case(
            "put apart",
            lambda x, i, j: A.index_put(x, [j[:, 0], None, i[:2]], x[:, :, 0]),
            [x, i, j],
        ),
        Case("put by a mask", lambda x, m: A.index_put(x, [m], x[0, 0]), [x, mask]),
        Case(
            "put a number by a mask",
            lambda x, m: A.index_put(x, [None, m[0]], torch.tensor(1.0)),
            [x, mask],
        ),
        Case("index_add", lambda x, i: x.index_add(1, i.abs(), x[:, [0, 1, 2, 0]]), [x, i]),
        Case("index_copy", lambda x: x.index_copy(1, torch.tensor([2, 0]), x[:, :2]), [x]),
        Case("index_fill", lambda x: x.index_fill(1, torch.tensor([2, 0]), 3.0), [x]),
        Case("scatter", lambda x, i: x.scatter(0, i, x * 2), [x[:, :1], at0[:1, :1]]),
        Case("scatter of less", lambda x, i: x.scatter(0, i[:1, :1], x * 2), [x, at0]),
        Case("scatter a number", lambda x, i: x.scatter(0, i[:1], 2.5), [x, at0]),
        Case("scatter_add", lambda x, i: x.scatter_add(1, i, x), [x, at]),
        *[
            Case(
                f"scatter_reduce {how}{' alone' if alone else ''}",
                lambda x, i, how=how, alone=alone: x.scatter_reduce(
                    1, i, x * 2, how, include_self=not alone
                ),
                [x, at],
            )
            for how in ("sum", "prod", "mean", "amax", "amin")
            for alone in (False, True)
        ],
        Case("masked_scatter", lambda x, m: x[:, :, 0].masked_scatter(m, x), [x, mask]),
        Case("masked_scatter wider", lambda x, m: x[0, 0].masked_scatter(m, x), [x, mask[:, :1]]),
        Case("one_hot", lambda i: F.one_hot(i, 4), [ints(2, 3, low=0, high=4)]),
        Case("one_hot of one", lambda i: F.one_hot(i, 4), [torch.tensor(2)]),
        Case("isin", lambda x: torch.isin(x, torch.tensor([1, 2])), [ints(5)]),
        Case("put negative axis", lambda x, i: x.scatter(-1, i, 1.0), [x, at0]),
        Case(
            "searchsorted",
            lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), x, right=True),
            [x],
        ),
        Case("searchsorted rows", lambda x: torch.searchsorted(x.sort(-1)[0], x), [x]),
        Case(
            "unique",
            lambda i: torch.unique(i, return_inverse=True, return_counts=True),
            [ints(2, 5, low=0, high=4)],
        ),
        Case("unique rows", lambda i: torch.unique(i, dim=0), [ints(6, 2, low=0, high=2)]),
        Case("bucketize", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), [x]),
        Case(
            "bucketize right",
            lambda x: torch.bucketize(x, torch.tensor([-1, 0, 1]), right=True),
            [ints(6, low=-2, high=3)],
        ),
        *[
            Case(
                f"embedding_bag {mode}",
                lambda w, i, mode=mode: F.embedding_bag(i, w, mode=mode),
                [floats(7, 3), ints(2, 5, low=0, high=7)],
            )
            for mode in ("sum", "mean", "max")
        ],
        Case(
            "embedding_bag offsets",
            lambda w, i: F.embedding_bag(i, w, torch.tensor([0, 2, 2]), mode="sum"),
            [floats(7, 3), ints(5, low=0, high=7)],
        ),
    ]


def reductions() -> list[Case]:
    functions = {
        "sum": lambda x: (x.sum(), x.sum(1), x.sum((0, -1), keepdim=True), x.sum([])),
        "mean": lambda x: (x.float().mean(), x.float().mean((1, 2), keepdim=True)),
        "prod": lambda x: (x.prod(), x.prod(1), x.prod(-1, keepdim=True)),
        "amax": lambda x: (x.amax(), x.amax((0, 1)), x.amin(2, keepdim=True)),
        "max": lambda x: (x.max(), x.min(), x.max(1), x.min(-1, keepdim=True)),
        "arg": lambda x: (x.argmax(), x.argmin(1), x.argmax(-1, keepdim=True)),
        "any": lambda x: (x.any(), x.any(1), x.all(), x.all(-1, keepdim=True)),
        "count_nonzero": lambda x: (x.count_nonzero(), x.count_nonzero(1)),
        "cumsum": lambda x: (x.cumsum(1), x.cumsum(-1)),
        "cumprod": lambda x: x.cumprod(1),
    }
    of_floats = {
        "var": lambda x: (x.var(), x.var(1), x.var((0, 2), correction=0, keepdim=True)),
        "std": lambda x: (x.std(), x.std(1, unbiased=False)),
        "var_mean": lambda x: torch.var_mean(x, 1),
        "std_mean": lambda x: torch.std_mean(x, 1),
        "logsumexp": lambda x: (x.logsumexp(1), x.logsumexp((0, 1), keepdim=True)),
        "norm": lambda x: (x.norm(), x.norm(dim=1), x.norm(1, dim=1), x.norm(3, dim=(0, 1))),
        "vector norms": lambda x: [
            torch.linalg.vector_norm(x, ord, 1, keep)
            for ord in (0, 0.5, float("inf"), -float("inf"))
            for keep in (False, True)
        ],
        "normalize": lambda x: F.normalize(x, dim=1),
        "logcumsumexp": lambda x: x.logcumsumexp(1),
        "aminmax": lambda x: tuple(torch.aminmax(x, dim=1)),
        "quantile": lambda x: torch.quantile(x, 0.3, 1),
        "nansum": lambda x: x.nansum(1),
        "cosine_similarity": lambda x: F.cosine_similarity(x[0], x[1]),
        "sum of dtype": lambda x: x.sum(1, dtype=torch.float64),
        "cross_entropy": lambda x: (
            F.cross_entropy(x[0], torch.tensor([0, 3, 1]), label_smoothing=0.1),
            F.nll_loss(x[0].log_softmax(1), torch.tensor([0, 3, 1]), ignore_index=3),
            F.binary_cross_entropy_with_logits(x, x.sigmoid()),
            F.kl_div(x.log_softmax(1), x.softmax(1), reduction="sum"),
        ),
        "losses": lambda x: (F.mse_loss(x, x * 2), F.l1_loss(x, x * 2), F.smooth_l1_loss(x, x * 2)),
        "sort": lambda x: (x.sort(1), x.sort(-1, descending=True)),
        "stable sort": lambda x: x.round().sort(stable=True, dim=1),
        "argsort": lambda x: x.argsort(1),
        "topk": lambda x: (x.topk(2), x.topk(2, 1, largest=False)),
        "kthvalue": lambda x: (x.kthvalue(2, 1), x.kthvalue(2, 1, keepdim=True)),
        "median": lambda x: (x.median(), x.median(1)),
        "of 0-d": lambda x: (
            x.sum().sum(0),
            x.sum().amax(-1),
            x.sum().max(0),
            x.sum().cumsum(0),
            x.sum().sort(),
            x.sum().argmax(),
            x.sum().any(0),
            x.sum().mean(0),
            x.sum().softmax(0),
        ),
    }
    cases = [Case(name, f, [X]) for name, f in {**functions, **of_floats}.items()]
    for dtype in (torch.int32, torch.bool, torch.float16):
        x = ints(2, 3, 4, low=0, high=3).to(dtype)
        for name, function in functions.items():
            if not (dtype == torch.bool and name == "arg"):
                cases.append(Case(f"{name} {dtype}", function, [x]))
    return cases


def creations() -> list[Case]:
    functions = {
        "full": lambda x: (torch.full((2, 3), 1.5), torch.full((2,), 3, dtype=torch.int32)),
        "zeros": lambda x: (torch.zeros(2, 3), torch.ones(2, dtype=torch.bool)),
        "like": lambda x: (
            torch.zeros_like(x),
            torch.ones_like(x, dtype=I64),
            torch.full_like(x, 2),
        ),
        "new": lambda x: (x.new_zeros(2), x.new_full((2,), 3), x.new_ones(1), x.new_tensor([1, 2])),
        "fill": lambda x: x.fill(2.0) if hasattr(x, "fill") else A.fill(x, 2.0),
        "arange": lambda x: (
            torch.arange(5),
            torch.arange(1, 7, 2),
            torch.arange(0.5, 2),
            torch.arange(5, 0, -2),
        ),
        "arange of dtype": lambda x: (
            torch.arange(3, dtype=torch.float16),
            torch.arange(3, dtype=torch.bfloat16),
        ),
        "linspace": lambda x: torch.linspace(0, 1, 5),
        "eye": lambda x: torch.eye(3),
        "tensor": lambda x: torch.tensor([1, 2]) + torch.tensor(1.5),
        "scalar_tensor": lambda x: torch.scalar_tensor(2.5),
        "tril_indices": lambda x: torch.tril_indices(3, 3),
        "constants": lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0]),
        "triangle": lambda x: torch.triu(torch.full((4, 4), float("-inf")), diagonal=1) + x[0, 0],
    }
    return [Case(name, function, [X]) for name, function in functions.items()]


CASES = [*shapes(), *indices(), *reductions(), *creations()]
BATCH = Batch(CASES)


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case.name for case in CASES])
def test_rule(index: int) -> None:
    BATCH.check(index)
