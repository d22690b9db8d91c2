"""Attributes that are one of a few words, numbers that are switches, and axes."""

from __future__ import annotations

from ._checked import Checked, check, check_all

_AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
_DIRECTIONS = ("forward", "reverse", "bidirectional")
_WINDOWS = "Conv ConvInteger QLinearConv ConvTranspose MaxPool AveragePool LpPool".split()

# The words that an attribute may be, by operator.
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    **{operator: {"auto_pad": _AUTO_PADS} for operator in _WINDOWS},
    **{operator: {"direction": _DIRECTIONS} for operator in ("RNN", "GRU", "LSTM")},
    "BitShift": {"direction": ("LEFT", "RIGHT")},
    "Cast": {"round_mode": ("up", "down", "nearest")},
    "CastLike": {"round_mode": ("up", "down", "nearest")},
    "DepthToSpace": {"mode": ("DCR", "CRD")},
    "Gelu": {"approximate": ("none", "tanh")},
    "GridSample": {
        "mode": ("linear", "nearest", "cubic", "bilinear", "bicubic"),
        "padding_mode": ("zeros", "border", "reflection"),
    },
    "NegativeLogLikelihoodLoss": {"reduction": ("none", "mean", "sum")},
    "Pad": {"mode": ("constant", "reflect", "edge", "wrap")},
    "Resize": {
        "mode": ("nearest", "linear", "cubic"),
        "coordinate_transformation_mode": (
            "half_pixel",
            "half_pixel_symmetric",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_half_pixel_for_nn",
            "tf_crop_and_resize",
        ),
        "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
        "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
    },
    "RoiAlign": {
        "mode": ("avg", "max"),
        "coordinate_transformation_mode": ("half_pixel", "output_half_pixel"),
    },
    "ScatterElements": {"reduction": ("none", "add", "mul", "min", "max")},
    "ScatterND": {"reduction": ("none", "add", "mul", "min", "max")},
    "SpaceToDepth": {"mode": ("DCR", "CRD")},
    "SoftmaxCrossEntropyLoss": {"reduction": ("none", "mean", "sum")},
    "StringNormalizer": {"case_change_action": ("NONE", "LOWER", "UPPER")},
    "TensorScatter": {"mode": ("linear", "circular")},
    "TfIdfVectorizer": {"mode": ("TF", "IDF", "TFIDF")},
    "Upsample": {"mode": ("nearest", "linear")},
}


@check(*_WORDS)
def _word(node: Checked) -> None:
    for attribute, words in _WORDS[node.node.op_type].items():
        given = node.get(attribute)
        if given is not None and given not in words:
            node.fail(f"attribute {attribute!r}", " or ".join(map(repr, words)), repr(given))


# Attributes that are 0 or 1, of all operators.
_SWITCHES = frozenset(
    (
        "align_corners allowzero antialias ceil_mode center_point_box count_include_pad "
        "detect_negative detect_positive exclude_outside exclusive fmod input_forget interleaved "
        "inverse is_causal keepdims largest layout linear_before_reset noop_with_empty_axes "
        "onesided reverse saturate select_last_index sorted storage_order "
        "training_mode transA transB upper"
    ).split()
)


@check_all
def _switch(node: Checked) -> None:
    """Attributes that switch something are 0 or 1."""
    for attribute in _SWITCHES.intersection(node.attributes):
        if node.attributes[attribute] not in (0, 1):
            node.fail(f"attribute {attribute!r}", "0 or 1", node.attributes[attribute])


# Operators with an axis of their first input.
_AXES = (
    "ArgMax ArgMin Compress Concat DequantizeLinear Gather GatherElements Hardmax "
    "LayerNormalization LogSoftmax LpNormalization QuantizeLinear RMSNormalization Scatter "
    "ScatterElements Softmax Split SplitToSequence TensorScatter TopK Unique"
).split()


@check(*_AXES)
def _axis(node: Checked) -> None:
    value, axis = node.value(0), node.get("axis")
    if value is None or axis is None:
        return
    # One scale is of all elements, whatever the axis is.
    if node.node.op_type.endswith("eLinear"):
        scale = node.value(1)
        if scale is None or scale.size == 1:
            return
    node.axis(axis, len(value.shape))


@check("MeanVarianceNormalization")
def _axes(node: Checked) -> None:
    value = node.value(0)
    if value is not None:
        node.axes(node.get("axes", (0, 2, 3)), len(value.shape), "attribute 'axes'")


@check("Flatten")
def _flatten(node: Checked) -> None:
    value = node.value(0)
    if value is not None:
        node.axis(node.get("axis", 1), len(value.shape), end=1)
