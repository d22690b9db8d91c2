"""The models of this folder as modules of torch, the same shapes, and three modules more."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


def _conv(inside: int, outside: int, size: int, act: type[nn.Module] | None = nn.ReLU, **kwargs):
    padding = kwargs.pop("padding", size // 2)
    layers = [nn.Conv2d(inside, outside, size, padding=padding, bias=False, **kwargs)]
    layers.append(nn.BatchNorm2d(outside))
    return nn.Sequential(*layers, *([act()] if act else []))


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


class Bottleneck(nn.Module):
    def __init__(self, inside: int, middle: int, stride: int) -> None:
        super().__init__()
        outside = 4 * middle
        self.body = nn.Sequential(
            _conv(inside, middle, 1),
            _conv(middle, middle, 3, stride=stride),
            _conv(middle, outside, 1, None),
        )
        changes = stride != 1 or inside != outside
        self.shortcut = _conv(inside, outside, 1, None, stride=stride) if changes else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.shortcut(x))


def resnet50() -> nn.Module:
    layers = [_conv(3, 64, 7, stride=2), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(inside, 64 << stage, 2 if stage and not block else 1))
            inside = 256 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))


class InvertedResidual(nn.Module):
    def __init__(self, inside: int, outside: int, stride: int, wider: int) -> None:
        super().__init__()
        middle = inside * wider
        layers = [_conv(inside, middle, 1, nn.ReLU6)] if wider != 1 else []
        layers.append(_conv(middle, middle, 3, nn.ReLU6, stride=stride, groups=middle))
        self.body = nn.Sequential(*layers, _conv(middle, outside, 1, None))
        self.keeps = stride == 1 and inside == outside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.keeps else self.body(x)


def mobilenet_v2() -> nn.Module:
    layers = [_conv(3, 32, 3, nn.ReLU6, stride=2)]
    inside = 32
    for wider, outside, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):  # fmt: skip
        for index in range(count):
            layers.append(InvertedResidual(inside, outside, 1 if index else stride, wider))
            inside = outside
    layers.append(_conv(inside, 1280, 1, nn.ReLU6))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class BertLayer(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.output = nn.Linear(hidden, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.wide, self.narrow = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        n, length, hidden = x.shape
        parts = (
            layer(x).view(n, length, self.heads, hidden // self.heads).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        y = F.scaled_dot_product_attention(*parts, attn_mask=mask)
        x = self.norm1(x + self.output(y.transpose(1, 2).reshape(n, length, hidden)))
        return self.norm2(x + self.narrow(F.gelu(self.wide(x))))


class Bert(nn.Module):
    """The encoder of BERT-base, for sequences of at most 512 tokens."""

    def __init__(self, layers: int = 12, hidden: int = 768, heads: int = 12) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, hidden)
        self.positions = nn.Embedding(512, hidden)
        self.kinds = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.layers = nn.ModuleList(BertLayer(hidden, heads) for _ in range(layers))

    def forward(
        self, input_ids: torch.Tensor, token_type_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        length = input_ids.shape[1]
        x = self.words(input_ids) + self.kinds(token_type_ids) + self.positions.weight[:length]
        x = self.norm(x)
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -10000.0
        # ONNX Runtime's Attention takes no mask that broadcasts over the queries.
        mask = mask.expand(-1, -1, length, -1)
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Lstm(nn.Module):
    def __init__(self, hidden: int = 256) -> None:
        super().__init__()
        self.lstm = nn.LSTM(64, hidden, 2, batch_first=True)
        self.head = nn.Linear(hidden, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


class UNet(nn.Module):
    def __init__(self, channels: int = 16, depth: int = 3) -> None:
        super().__init__()
        counts = [channels << level for level in range(depth + 1)]
        pairs = list(zip([3, *counts], counts, strict=False))
        self.down = nn.ModuleList(
            nn.Sequential(_conv(inside, outside, 3), _conv(outside, outside, 3))
            for inside, outside in pairs
        )
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(outside, inside, 2, 2) for inside, outside in pairs[1:]
        )
        self.join = nn.ModuleList(
            nn.Sequential(_conv(2 * inside, inside, 3), _conv(inside, inside, 3))
            for inside, _ in pairs[1:]
        )
        self.head = nn.Conv2d(channels, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for level, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if level else x)
            kept.append(x)
        kept.pop()
        for up, join in zip(reversed(self.up), reversed(self.join), strict=True):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.head(x)


class SqueezeExcite(nn.Module):
    """A factor for each channel, from the means of all."""

    def __init__(self, channels: int, middle: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, middle, 1), nn.Conv2d(middle, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.up(F.silu(self.down(mean))))


class MobileBlock(nn.Module):
    """An inverted residual block with a factor for each channel, as EfficientNet has them."""

    def __init__(self, inside: int, outside: int, size: int, stride: int, wider: int) -> None:
        super().__init__()
        middle = inside * wider
        parts: list[nn.Module] = []
        if wider != 1:
            parts += [nn.Conv2d(inside, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.SiLU()]
        depthwise = nn.Conv2d(middle, middle, size, stride, size // 2, groups=middle, bias=False)
        parts += [depthwise, nn.BatchNorm2d(middle), nn.SiLU()]
        parts += [SqueezeExcite(middle, max(inside // 4, 1))]
        parts += [nn.Conv2d(middle, outside, 1, bias=False), nn.BatchNorm2d(outside)]
        self.body = nn.Sequential(*parts)
        self.keeps = stride == 1 and inside == outside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.keeps else self.body(x)


def efficientnet() -> nn.Module:
    """As EfficientNet-B0, without dropping paths."""
    parts: list[nn.Module] = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.SiLU()]
    inside = 32
    for wider, outside, count, stride, size in (
        (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
    ):  # fmt: skip
        for index in range(count):
            parts.append(MobileBlock(inside, outside, size, 1 if index else stride, wider))
            inside = outside
    parts += [nn.Conv2d(inside, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.SiLU()]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class DecoderLayer(nn.Module):
    """A layer of a decoder, with normalization in front of its parts, as GPT-2 has them."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.all, self.output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.wide, self.narrow = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, hidden = x.shape
        parts = (
            part.view(n, length, self.heads, hidden // self.heads).transpose(1, 2)
            for part in self.all(self.norm1(x)).split(hidden, 2)
        )
        y = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(n, length, hidden))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


class Decoder(nn.Module):
    """A language model as the small GPT-2, whose last product is that of the embedding."""

    def __init__(self, words: int = 50257, layers: int = 12, hidden: int = 768) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, hidden), nn.Embedding(1024, hidden)
        self.layers = nn.ModuleList(DecoderLayer(hidden, hidden // 64) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.positions.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.words.weight)


def mlp() -> nn.Module:
    """784 numbers, three layers of 2,048, ten classes."""
    return nn.Sequential(
        nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 2048),
        nn.ReLU(), nn.Linear(2048, 10),
    )  # fmt: skip


def _image(*shape: int) -> Callable[[int], tuple[torch.Tensor, ...]]:
    return lambda batch: (torch.randn(batch, *shape),)


def _text(batch: int) -> tuple[torch.Tensor, ...]:
    ids = torch.randint(0, 30000, (batch, 128))
    return ids, torch.zeros_like(ids), torch.ones_like(ids)


# How each is made, and what it is called with for a batch of so many.
MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[[int], tuple[torch.Tensor, ...]]]] = {
    "lenet": (lenet, _image(1, 28, 28)),
    "resnet50": (resnet50, _image(3, 224, 224)),
    "mobilenet_v2": (mobilenet_v2, _image(3, 224, 224)),
    "bert": (Bert, _text),
    "lstm": (Lstm, _image(64, 64)),
    "unet": (UNet, _image(3, 128, 128)),
    "efficientnet": (efficientnet, _image(3, 224, 224)),
    "gpt2": (Decoder, lambda batch: (torch.randint(0, 50257, (batch, 128)),)),
    "mlp": (mlp, _image(784)),
}
