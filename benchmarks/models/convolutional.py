"""Models of convolutions."""

from __future__ import annotations

from mx.graph import Graph

from ._builder import Builder


def lenet(width: float = 1.0, seed: int = 0) -> Graph:
    """LeNet-5 for images of 28 by 28: two convolutions and three matrices."""
    c1, c2, d1, d2 = (max(1, round(width * count)) for count in (6, 16, 120, 84))
    b = Builder("lenet", seed)
    x = b.input("data", ("N", 1, 28, 28))
    x = b.op("Relu", b.conv(x, "conv1", (1, c1), 5, bias=True, pads=[2, 2, 2, 2]))
    x = b.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = b.op("Relu", b.conv(x, "conv2", (c1, c2), 5, bias=True))
    x = b.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = b.op("Flatten", x, axis=1)
    x = b.op("Relu", b.linear(x, "fc1", c2 * 25, d1))
    x = b.op("Relu", b.linear(x, "fc2", d1, d2))
    return b.finish(output=b.linear(x, "fc3", d2, 10))


def resnet50(width: float = 1.0, size: int = 224, seed: int = 0) -> Graph:
    """ResNet-50 (version 1.5, whose 3x3 convolutions have the strides)."""
    b = Builder("resnet50", seed)
    channels = max(1, round(64 * width))
    x = b.input("data", ("N", 3, size, size))
    x = b.op("Relu", b.conv_norm(x, ("conv1", "bn1"), (3, channels), 7, strides=[2, 2]))
    x = b.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inside = channels
    for stage, blocks in enumerate((3, 4, 6, 3)):
        middle = channels << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            x = _bottleneck(b, x, f"layer{stage + 1}.{block}", (inside, middle), stride)
            inside = 4 * middle
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    return b.finish(output=b.linear(x, "fc", inside, 1000))


def _bottleneck(b: Builder, x, name: str, channels: tuple[int, int], stride: int):
    """Three convolutions beside none or one."""
    inside, middle = channels
    strides = [stride, stride]

    def step(x, index: int, ends: tuple[int, int], size: int, **attributes):
        return b.conv_norm(
            x, (f"{name}.conv{index}", f"{name}.bn{index}"), ends, size, **attributes
        )

    y = b.op("Relu", step(x, 1, (inside, middle), 1))
    y = b.op("Relu", step(y, 2, (middle, middle), 3, strides=strides))
    y = step(y, 3, (middle, 4 * middle), 1)
    if inside != 4 * middle or stride != 1:
        names = (f"{name}.downsample.0", f"{name}.downsample.1")
        x = b.conv_norm(x, names, (inside, 4 * middle), 1, strides=strides)
    return b.op("Relu", b.op("Add", y, x))


def mobilenet_v2(width: float = 1.0, size: int = 224, seed: int = 0) -> Graph:
    """MobileNetV2: inverted residuals around depthwise convolutions, with ReLU6 as a Clip."""
    b = Builder("mobilenet_v2", seed)

    def count(channels: int) -> int:
        return max(1, round(channels * width))

    def clipped(x):
        return b.op("Clip", x, b.number(0.0), b.number(6.0))

    x = b.input("data", ("N", 3, size, size))
    inside = count(32)
    x = clipped(b.conv_norm(x, ("features.0.0", "features.0.1"), (3, inside), 3, strides=[2, 2]))
    index = 1
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2))
    for expansion, channels, repeats, first in (
        *stages,
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for repeat in range(repeats):
            stride = first if not repeat else 1
            name, y, inner = f"features.{index}.conv", x, inside * expansion
            if expansion != 1:
                y = clipped(b.conv_norm(y, (f"{name}.0.0", f"{name}.0.1"), (inside, inner), 1))
            names = (f"{name}.1.0", f"{name}.1.1")
            y = clipped(
                b.conv_norm(y, names, (inner, inner), 3, strides=[stride, stride], group=inner)
            )
            outside = count(channels)
            y = b.conv_norm(y, (f"{name}.2", f"{name}.3"), (inner, outside), 1)
            x = b.op("Add", x, y) if stride == 1 and inside == outside else y
            inside, index = outside, index + 1
    names, outside = (f"features.{index}.0", f"features.{index}.1"), count(1280)
    x = clipped(b.conv_norm(x, names, (inside, outside), 1))
    x = b.op("Flatten", b.op("GlobalAveragePool", x), axis=1)
    return b.finish(output=b.linear(x, "classifier.1", outside, 1000))


def unet(width: float = 1.0, size: int = 128, seed: int = 0) -> Graph:
    """A small U-Net: three steps down and up again, with what each step down had joined on."""
    b = Builder("unet", seed)
    counts = [max(1, round(width * channels)) for channels in (16, 32, 64, 128)]

    def double(x, name: str, inside: int, outside: int):
        for part, ends in enumerate(((inside, outside), (outside, outside))):
            names = (f"{name}.{3 * part}", f"{name}.{3 * part + 1}")
            x = b.op("Relu", b.conv_norm(x, names, ends, 3))
        return x

    x = b.input("data", ("N", 3, size, size))
    inside, kept = 3, []
    for level, outside in enumerate(counts):
        if level:
            x = b.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x = double(x, f"down{level}", inside, outside)
        kept.append(x)
        inside = outside
    for level in (2, 1, 0):
        outside = counts[level]
        weight = b.random(f"up{level}.weight", (inside, outside, 2, 2), inside**-0.5)
        bias = b.random(f"up{level}.bias", (outside,), 0.1)
        x = b.op("ConvTranspose", x, weight, bias, kernel_shape=[2, 2], strides=[2, 2])
        x = double(b.op("Concat", kept[level], x, axis=1), f"join{level}", 2 * outside, outside)
        inside = outside
    return b.finish(output=b.conv(x, "head", (inside, 2), 1, bias=True))
