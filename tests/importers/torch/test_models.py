"""Whole models in plain torch, with batches and sequences of other lengths than the example's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from .running import check, floats, ints


def conv(inputs: int, outputs: int, kernel: int = 3, act: type = nn.ReLU, **kw) -> nn.Sequential:
    """Convolution, batch normalization, activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False, **kw),
        nn.BatchNorm2d(outputs),
        act(),
    )


class Residual(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv(inputs, outputs, stride=stride), conv(outputs, outputs, act=nn.Identity)
        )
        self.shortcut = conv(inputs, outputs, 1, nn.Identity, stride=stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.shortcut(x), inplace=True)


def resnet() -> nn.Module:
    return nn.Sequential(
        conv(3, 8, stride=2),
        nn.MaxPool2d(3, 2, 1),
        Residual(8, 8),
        Residual(8, 16, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


class Inverted(nn.Module):
    def __init__(self, channels: int, wide: int, act: type, squeeze: bool) -> None:
        super().__init__()
        self.expand = conv(channels, wide, 1, act)
        self.depthwise = conv(wide, wide, 3, act, groups=wide)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, 4, 1), act(), nn.Conv2d(4, wide, 1)
        )
        self.squeezes = squeeze
        self.project = conv(wide, channels, 1, nn.Identity)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.depthwise(self.expand(x))
        if self.squeezes:
            y = y * torch.sigmoid(self.squeeze(y))
        return x + self.project(y)


def mobilenet() -> nn.Module:
    return nn.Sequential(
        conv(3, 8, act=nn.ReLU6, stride=2),
        Inverted(8, 16, nn.ReLU6, False),
        Inverted(8, 16, nn.Hardswish, False),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(8, 5),
    )


def efficientnet() -> nn.Module:
    return nn.Sequential(
        conv(3, 8, act=nn.SiLU, stride=2), Inverted(8, 16, nn.SiLU, True), nn.Conv2d(8, 4, 1)
    )


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([conv(1, 4), conv(4, 8)])
        self.middle = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.up = nn.ConvTranspose2d(8, 8, 2, 2)
        self.join = nn.ModuleList([conv(16, 4), conv(8, 4)])
        self.last = nn.Conv2d(4, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.down[0](x)
        second = self.down[1](F.max_pool2d(first, 2))
        y = self.up(self.middle(F.max_pool2d(second, 2)))
        y = self.join[0](torch.cat([y, second], 1))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(self.join[1](torch.cat([y, first], 1)))


class Encoder(nn.Module):
    """Tokens with a mask of padding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pool = nn.Linear(16, 16)

    def forward(self, tokens: torch.Tensor) -> dict[str, torch.Tensor]:
        padding = tokens == 0
        x = self.layers(self.embed(tokens), src_key_padding_mask=padding)
        weights = (~padding).to(x.dtype).unsqueeze(-1)
        mean = (x * weights).sum(1) / weights.sum(1).clamp(min=1)
        return {"hidden": x, "pooled": torch.tanh(self.pool(mean))}


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.RMSNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).split(width, 2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class Decoder(nn.Module):
    """Weights of the first and the last layer are one, positions a table."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 16), nn.Embedding(32, 16)
        self.blocks = nn.Sequential(Block(16, 4), Block(16, 2))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 20, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.positions(torch.arange(length))
        return self.head(self.norm(self.blocks(x)))


class MaskedAttention(nn.Module):
    """Attention written out, with a mask made of the length."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        length = x.shape[1]
        mask = torch.triu(torch.full((length, length), float("-inf")), 1)
        y, weights = self.attention(x, x, x, attn_mask=mask)
        scores = (y @ x.transpose(1, 2)) / length**0.5
        return y, scores.masked_fill(mask < 0, -1e9).softmax(-1) + weights


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(12, 5, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        y, (_, cell) = self.lstm(x)
        z, last = self.gru(y)
        return z[:, -1], cell, last


class Rotary(nn.Module):
    """What language models of today do: rotated positions, groups of heads, a gate."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.kv = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.gate, self.up = nn.Linear(16, 24, bias=False), nn.Linear(16, 24, bias=False)
        self.down = nn.Linear(24, 16, bias=False)
        self.register_buffer("rates", 1.0 / 100 ** (torch.arange(0, 4, 2) / 4), persistent=False)

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        angles = torch.arange(x.shape[2])[:, None].float() * self.rates
        angles = torch.cat([angles, angles], -1)
        first, second = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q = self.q(x).view(batch, length, 4, 4).transpose(1, 2)
        k, v = self.kv(x).view(batch, length, 2, 8).transpose(1, 2).chunk(2, -1)
        y = F.scaled_dot_product_attention(
            self.turned(q), self.turned(k), v, is_causal=True, enable_gqa=True
        )
        x = x + y.transpose(1, 2).flatten(2)
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


def image(*shape: int) -> list[torch.Tensor]:
    return [floats(*shape)]


def tokens(*shape: int) -> list[torch.Tensor]:
    return [ints(*shape, low=1, high=20)]


BATCH, BOTH = {0: "batch"}, {0: "batch", 1: "time"}
MODELS = {
    "resnet": (resnet, "input", image(1, 3, 20, 20), image(3, 3, 20, 20), BATCH),
    "mobilenet": (mobilenet, "input", image(1, 3, 12, 12), image(2, 3, 12, 12), BATCH),
    "efficientnet": (efficientnet, "input", image(1, 3, 12, 12), image(3, 3, 12, 12), BATCH),
    "u-net": (UNet, "x", image(2, 1, 8, 12), image(1, 1, 8, 12), BATCH),
    "encoder": (Encoder, "tokens", [torch.tensor([[3, 5, 7], [9, 0, 0]])], tokens(3, 6), BOTH),
    "decoder": (Decoder, "tokens", tokens(1, 5), tokens(3, 9), BOTH),
    "masked attention": (MaskedAttention, "x", image(2, 5, 8), image(3, 7, 8), BOTH),
    "recurrent": (Recurrent, "x", image(2, 5, 4), image(3, 7, 4), BOTH),
    "rotary": (Rotary, "x", image(1, 5, 16), image(2, 8, 16), BOTH),
}


def ready(make: object) -> nn.Module:
    """A model whose statistics and scales differ from those that it begins with."""
    assert callable(make)
    torch.manual_seed(1)
    model = make()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.3, 0.3)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
    return model


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    make, argument, example, other, dynamic = MODELS[name]
    graph = check(ready(make), example, other, dynamic={argument: dynamic}, tolerance=5)
    shape = [str(length) for length in graph.model.graph.inputs[0].shape]
    assert [shape[axis] for axis in dynamic] == list(dynamic.values())
    # What ONNX finds of shapes does not contradict what torch has found.
    outputs = [value.shape for value in graph.outputs]
    graph.infer()
    assert [value.shape for value in graph.outputs] == outputs


def test_all_free_dimensions() -> None:
    graph = check(ready(UNet), image(2, 1, 8, 12), image(3, 1, 12, 16), dynamic=True, tolerance=5)
    batch, channels, *size = graph.model.graph.inputs[0].shape
    assert channels == 1 and all(isinstance(one.value, str) for one in (batch, *size))


# What is kept whole.
KEPT = {
    "encoder": {"Attention", "Gelu", "LayerNormalization"},
    "decoder": {"Attention", "Gelu", "LayerNormalization", "RMSNormalization"},
    "mobilenet": {"BatchNormalization", "Clip", "Conv", "Gemm", "GlobalAveragePool", "HardSwish"},
    "recurrent": {"LSTM", "GRU"},
    "u-net": {"ConvTranspose", "GroupNormalization", "MaxPool", "Resize", "Swish"},
}


@pytest.mark.parametrize("name", KEPT)
def test_operators(name: str) -> None:
    make, _, example, _, _ = MODELS[name]
    graph = check(ready(make), example, tolerance=5)
    operators = {node.op_type for node in graph.model.graph}
    assert operators >= KEPT[name]
    assert not operators & {"Erf", "Exp", "Loop", "Softmax"}
