"""Operators of ONNX that have no derivative."""

from __future__ import annotations

from .._rules import without

without(
    "its outputs are truth values or integers",
    """
    And ArgMax ArgMin BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ConvInteger Equal Greater
    GreaterOrEqual IsInf IsNaN Less LessOrEqual MatMulInteger NonMaxSuppression NonZero Not
    OptionalHasElement Or SequenceLength Shape Size Xor
    """,
)
without(
    "it is constant almost everywhere",
    """
    BitCast Ceil DynamicQuantizeLinear Floor Hardmax QLinearConv QLinearMatMul QuantizeLinear Round
    Sign
    """,
)
without(
    "its elements depend on no input, or on its shape alone",
    """
    BlackmanWindow Constant ConstantOfShape EyeLike HammingWindow HannWindow MelWeightMatrix
    RandomNormal RandomNormalLike RandomUniform RandomUniformLike SequenceEmpty
    """,
)
without("it draws random numbers", "Bernoulli Multinomial")
without(
    "its elements follow from a seed",
    "mxffi.sol::RandomNormalTraining mxffi.sol::RandomUniformTraining",
)
without("it is there to end gradients", "mxffi.sol::StopGradient")
without(
    "its inputs are no numbers",
    "ImageDecoder RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
)
