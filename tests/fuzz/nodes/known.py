"""Operators for which a reference gives something else than ONNX describes, and why."""

# Not what onnx's reference implementation gives; what mx.graph has instead, if anything.
REFERENCE = {
    "AffineGrid": "it gives float32, whatever the matrix is of",
    "BatchNormalization": "it has statistics of a batch of other types, and fails at old versions",
    "DeformConv": "it divides by the extents less one, and rounds to bfloat16 after each step",
    "Det": "it gives float64 for bfloat16",
    "Dropout": "masks of version 7 are of the type of the elements",
    "GRU": "it has no lengths, no other activations, and no clip",
    "GlobalMaxPool": "it keeps the first axis of more than two",
    "Hardmax": "of version 12 and before it is of a matrix",
    "InstanceNormalization": "it adds numbers of bfloat16 as such",
    "LRN": "its windows of an even size begin one too early",
    "LSTM": "it has no lengths, no other activations, and no clip",
    "LogSoftmax": "of version 12 and before it is of a matrix",
    "Loop": "it joins what is stacked",
    "LpNormalization": "it adds numbers, not what they are without their sign",
    "MaxPool": "it loses pads of one axis, dilations and positions of three",
    "NegativeLogLikelihoodLoss": "it adds numbers of bfloat16 as such",
    "QLinearConv": "scales of filters are of the last axis but one",
    "QuantizeLinear": "it overflows where the type should be saturated",
    "RNN": "it has no lengths, no other activations, and no clip",
    "ReduceSumSquare": "it gives 64 bits of 32",
    "Resize": "it rounds integers to the nearest, and has scales of one for two axes at most",
    "RoiAlign": "of version 10 it moves regions by half a pixel",
    "SequenceInsert": "it puts what belongs to the end at the beginning",
    "Slice": "backwards from in front of the axis it gives nothing",
    "SoftmaxCrossEntropyLoss": "classes that are not likely are impossible",
    "Softmax": "of version 12 and before it is of a matrix",
    "StringNormalizer": "it takes accents and empty texts away",
    "Unique": "its order of the first of each is wrong along an axis",
}
# Not what ONNX Runtime gives.
ONNXRUNTIME = {
    "AffineGrid": "an axis of one element is nowhere, or at 1",
    "Dropout": "its masks say what is left out",
    "StringSplit": "of an empty text it makes no parts",
    "Upsample": "it copies what stays as large, and rounds integers another way",
}
