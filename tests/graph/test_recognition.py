"""Passes that recognize and move: what they change, and what looks alike and has to stay.

Cases are a pass, a graph, the operators that are left, and how many nodes are gone.
"""

import numpy
import onnx_ir
import pytest

from benchmarks import models
from mx.graph import Plan, passes

from .build import graph_of
from .test_passes import example, filled, give_weights

ALGEBRA = {
    "neutral elements": (
        """(float[N,2] x) => (float[] y) <float z = {0}, float[1] o = {1}, float[1,2] p = {1, 1}>
        { a = Add(z, x) b = Sub(a, z) c = Mul(b, p) d = Div(c, o) e = Pow(d, o) y = Neg(e) }""",
        ["Neg"], 5,
    ),
    "no neutral elements": (
        """(float[N,2] x) => (float[] y) <float z = {0}, float o = {1}, float[1,2] p = {1, 2}>
        { a = Sub(z, x) b = Mul(a, p) c = Div(o, b) d = Pow(o, c) y = Neg(d) }""",
        ["Sub", "Mul", "Div", "Pow", "Neg"], 0,
    ),
    "a neutral element that broadcasts": (
        """(float[N,2] x) => (float[] y) <float[3,1,1] o = {1, 1, 1}, float[1,1,1] p = {1}>
        { a = Mul(x, o) b = Reshape(a, s) c = Mul(x, p) y = Sum(b, c) }""".replace(
            "float[1,1,1] p", "int64[3] s = {3, -1, 2}, float[1,1,1] p"
        ),
        None, 1,
    ),
    "a neutral element between ends": (
        "(float[N,2] x) => (float[] y) <float o = {1}> { y = Mul(x, o) }", ["Mul"], 0,
    ),
    "a neutral element that is an output": (
        """(float[N,2] x) => (float[] y, float[] z) <float o = {1}>
        { a = Neg(x) y = Mul(a, o) z = Exp(y) }""", ["Neg", "Exp"], 1,
    ),
    "negated twice": (
        "(float[N,2] x) => (float[] y) { a = Neg(x) b = Neg(a) y = Exp(b) }", ["Exp"], 2,
    ),
    "negated twice, used once between": (
        "(float[N,2] x) => (float[] y) { a = Neg(x) b = Neg(a) c = Exp(b) y = Add(a, c) }",
        ["Neg", "Exp", "Add"], 1,
    ),
    "once is twice": (
        """(float[N,2] x) => (float[] y)
        { a = Relu(x) b = Relu(a) c = Abs(b) d = Abs(c) y = Neg(d) }""",
        ["Relu", "Abs", "Neg"], 2,
    ),
    "reshapes": (
        """(float[N,2,6] x) => (float[] y) <int64[2] s = {-1, 12}, int64[3] t = {-1, 4, 3}>
        { a = Reshape(x, s) b = Reshape(a, t) y = Neg(b) }""", ["Reshape", "Neg"], 1,
    ),
    "a reshape by the shape between": (
        """(float[N,2,6] x) => (float[] y) <int64[2] s = {-1, 12}, int64[3] t = {0, 4, 3}>
        { a = Reshape(x, s) b = Reshape(a, t) y = Neg(b) }""", ["Reshape", "Reshape", "Neg"], 0,
    ),
    "a reshape that others use": (
        """(float[N,2,6] x) => (float[] y, float[] a) <int64[2] s = {-1, 12}, int64[2] t = {-1, 4}>
        { a = Reshape(x, s) b = Reshape(a, t) y = Neg(b) }""", ["Reshape", "Reshape", "Neg"], 0,
    ),
    "shapes that stay": (
        """(float[3,2] x) => (float[] y) <int64[2] s = {3, 2}, int64[2] o = {1, 1},
        int64[1] z = {0}, int64[1] t = {9}, int64[4] p = {0, 0, 0, 0}>
        { a = Reshape(x, s) b = Expand(a, s) c = Tile(b, o)
        d = Slice(c, z, t) e = Pad(d, p) f = Flatten(e) y = Neg(f) }""", ["Neg"], 6,
    ),
    "shapes that stay, elements that move": (
        """(float[3,2] x) => (float[] y) <int64[1] b = {9}, int64[1] e = {-9}, int64[1] a = {0},
        int64[1] n = {-1}, int64[4] p = {1, 0, -1, 0}>
        { r = Slice(x, b, e, a, n) q = Pad(r, p) y = Neg(q) }""", ["Slice", "Pad", "Neg"], 0,
    ),
    "casts": (
        """(float[N,2] x) => (float[] y) { a = Cast<to=11>(x) b = Cast<to=1>(a) c = Cast<to=11>(b)
        d = Cast<to=10>(c) e = Cast<to=1>(d) y = Neg(e) }""", ["Cast", "Cast", "Neg"], 3,
    ),
    "casts that lose numbers": (
        """(float[N,2] x) => (float[] y) { a = Cast<to=7>(x) b = Cast<to=1>(a) c = Cast<to=10>(b)
        d = Cast<to=1>(c) y = Neg(d) }""", ["Cast", "Cast", "Cast", "Cast", "Neg"], 0,
    ),
}  # fmt: skip
TRANSPOSES = {
    "two that undo each other": (
        """(float[N,2,3] x) => (float[] y) { a = Transpose<perm=[0,2,1]>(x)
        b = Transpose<perm=[0,2,1]>(a) y = Neg(b) }""", ["Neg"], 2,
    ),
    "two that are one": (
        """(float[N,2,3] x) => (float[] y) { a = Transpose<perm=[0,2,1]>(x) b = Transpose(a)
        y = Neg(b) }""", ["Neg", "Transpose"], 1,
    ),
    "around elementwise operators": (
        """(float[2,3,4] x) => (float[] y) <float[3] c = {1,2,3}, float s = {2}>
        { a = Transpose<perm=[0,2,1]>(x) b = Relu(a) d = Mul(b, s) e = Add(d, c)
        f = Transpose<perm=[0,2,1]>(e) y = Exp(f) }""", ["Relu", "Mul", "Add", "Exp"], 2,
    ),
    "two sides of a sum": (
        """(float[2,3,4] x, float[2,3,4] z) => (float[] y) { a = Transpose<perm=[2,0,1]>(x)
        b = Transpose<perm=[2,0,1]>(z) c = Add(a, b) y = Exp(c) }""",
        ["Add", "Exp", "Transpose"], 1,
    ),
    "two sides in other orders": (
        """(float[2,2,2] x, float[2,2,2] z) => (float[] y) { a = Transpose<perm=[2,0,1]>(x)
        b = Transpose<perm=[1,0,2]>(z) y = Add(a, b) }""", ["Transpose", "Transpose", "Add"], 0,
    ),
    "an operand that is no constant": (
        """(float[2,3,4] x, float[3] z) => (float[] y) { a = Transpose<perm=[0,2,1]>(x)
        y = Add(a, z) }""", ["Transpose", "Add"], 0,
    ),
    "used twice": (
        """(float[2,3,4] x) => (float[] y) { a = Transpose<perm=[0,2,1]>(x) b = Relu(a)
        y = Add(a, b) }""", ["Transpose", "Relu", "Add"], 0,
    ),
    "an output": (
        """(float[2,3,4] x) => (float[] y, float[] a) { a = Transpose<perm=[0,2,1]>(x)
        y = Relu(a) }""", ["Transpose", "Relu"], 0,
    ),
    "what cares about axes": (
        """(float[2,3,4] x) => (float[] y) { a = Transpose<perm=[0,2,1]>(x) b = Softmax<axis=1>(a)
        y = Transpose<perm=[0,2,1]>(b) }""", ["Transpose", "Softmax", "Transpose"], 0,
    ),
    "with more axes than it has": (
        """(float[2,3] x) => (float[] y) <float[2,1,1] c = {1, 2}>
        { a = Transpose(x) y = Add(a, c) }""",
        ["Transpose", "Add"], 0,
    ),
}  # fmt: skip
CONV = """(float[N,2,5,5] x) => (float[] y) <float[4,2,3,3] w, float[4] b, float[4,1,1] s,
float[1,4,1,1] t, int64[8] p = {0,0,1,2,0,0,0,1}, int64[8] q = {0,1,1,1,0,0,0,0}, float v = {0.5},
int64[4] r = {1,2,0,1}, int64[2] a = {-2,3}>"""
PADS = {
    "before a convolution": (
        f"{CONV} {{ h = Pad(x, p) y = Conv<pads=[1,0,0,1]>(h, w, b) }}", ["Conv"], 1,
    ),
    "two before a convolution": (
        f"{CONV} {{ g = Pad(x, p) h = Pad(g, r, , a) y = Conv<auto_pad=\"VALID\">(h, w) }}",
        ["Conv"], 2,
    ),
    "of channels": (
        f"{CONV} {{ h = Pad(x, q) i = Slice(h, c, d, c) y = Conv(i, w) }}".replace(
            "int64[2] a", "int64[1] c = {1}, int64[1] d = {3}, int64[2] a"
        ),
        ["Pad", "Slice", "Conv"], 0,
    ),
    "with a number": (f"{CONV} {{ h = Pad(x, p, v) y = Conv(h, w, b) }}", ["Pad", "Conv"], 0),
    "with what is at the edge": (
        f"{CONV} {{ h = Pad<mode=\"edge\">(x, p) y = Conv(h, w) }}", ["Pad", "Conv"], 0,
    ),
    "that others use": (
        f"{CONV} {{ h = Pad(x, p) g = Conv(h, w) i = Conv(h, w, b) y = Add(g, i) }}",
        ["Pad", "Conv", "Conv", "Add"], 0,
    ),
    "that follows from the input": (
        f"{CONV} {{ h = Pad(x, p) y = Conv<auto_pad=\"SAME_UPPER\">(h, w) }}", ["Pad", "Conv"], 0,
    ),
    "with channels last": (
        f"""{CONV} {{ g = Transpose<perm=[0,2,3,1]>(x) h = Pad(g, u)
        i = Transpose<perm=[0,3,1,2]>(h) y = Conv<pads=[1,0,0,1]>(i, w) }}""".replace(
            "int64[8] p", "int64[8] u = {0,1,0,0,0,2,3,0}, int64[8] p"
        ),
        ["Transpose", "Transpose", "Conv"], 1,
    ),
    "transposed for others, too": (
        f"""{CONV} {{ h = Pad(x, p) i = Transpose<perm=[0,1,3,2]>(h) g = Conv(i, w) k = Relu(i)
        j = Conv(k, w) y = Add(g, j) }}""",
        ["Pad", "Transpose", "Conv", "Relu", "Conv", "Add"], 0,
    ),
    "before a pool of no negative elements": (
        f"""{CONV} {{ g = Relu(x) h = Pad(g, p)
        y = MaxPool<kernel_shape=[3,3], pads=[1,0,0,1], strides=[2,2]>(h) }}""",
        ["Relu", "MaxPool"], 1,
    ),
    "before a pool of clipped elements": (
        f"{CONV} {{ g = Clip(x, v) h = Pad(g, p) y = MaxPool<kernel_shape=[3,3]>(h) }}",
        ["Clip", "MaxPool"], 1,
    ),
    "before a pool of negative elements": (
        f"{CONV} {{ g = Neg(x) h = Pad(g, p) y = MaxPool<kernel_shape=[3,3]>(h) }}",
        ["Neg", "Pad", "MaxPool"], 0,
    ),
    "before a pool with windows of zeros": (
        f"{CONV} {{ g = Relu(x) h = Pad(g, p) y = MaxPool<kernel_shape=[1,2]>(h) }}",
        ["Relu", "Pad", "MaxPool"], 0,
    ),
    "before a pool with holes": (
        f"""{CONV} {{ g = Relu(x) h = Pad(g, p)
        y = MaxPool<kernel_shape=[3,2], dilations=[1,2]>(h) }}""",
        ["Relu", "Pad", "MaxPool"], 0,
    ),
    "before a pool that tells positions": (
        f"""{CONV} {{ g = Relu(x) h = Pad(g, p) i, k = MaxPool<kernel_shape=[3,3]>(h)
        l = Cast<to=1>(k) y = Add(i, l) }}""",
        ["Relu", "Pad", "MaxPool", "Cast", "Add"], 0,
    ),
}  # fmt: skip
SCALES = {
    "factors and offsets": (
        f"{CONV} {{ h = Conv(x, w) i = Mul(h, s) j = Add(t, i) k = Sub(j, v) y = Div(k, s) }}",
        ["Conv"], 4,
    ),
    "of a transposed convolution": (
        """(float[N,4,3,3] x) => (float[] y) <float[4,2,2,2] w, float[4] b, float[4,1,1] s>
        { h = ConvTranspose<group=2>(x, w, b) i = Mul(s, h) y = Relu(i) }""",
        ["ConvTranspose", "Relu"], 1,
    ),
    "of a matrix": (
        """(float[N,3] x) => (float[] y) <float[4,3] w, float[4] b, float[4] s, float v = {2}>
        { h = Gemm<transB=1, alpha=0.5, beta=2.0>(x, w, b) i = Mul(h, s) y = Add(i, v) }""",
        ["Gemm"], 2,
    ),
    "of positions": (
        """(float[N,2,5,5] x) => (float[] y) <float[4,2,3,3] w, float[3] s>
        { h = Conv(x, w) y = Mul(h, s) }""", ["Conv", "Mul"], 0,
    ),
    "the other way round": (
        f"{CONV} {{ h = Conv(x, w) i = Sub(v, h) y = Div(v, i) }}", ["Conv", "Sub", "Div"], 0,
    ),
    "used twice": (
        f"{CONV} {{ h = Conv(x, w) i = Mul(h, s) y = Add(h, i) }}", ["Conv", "Mul", "Add"], 0,
    ),
    "of an output": (
        f"{CONV} {{ h = Conv(x, w) y = Mul(h, s) }}".replace("[] y)", "[] y, float[] h)"),
        ["Conv", "Mul"], 0,
    ),
    "that is no constant": (
        """(float[N,2,5,5] x, float[4,1,1] s) => (float[] y) <float[4,2,3,3] w>
        { h = Conv(x, w) y = Mul(h, s) }""", ["Conv", "Mul"], 0,
    ),
    "of a division by zero": (
        f"{CONV} {{ h = Conv(x, w) y = Div(h, z) }}".replace("float v", "float z = {0}, float v"),
        ["Conv", "Div"], 0,
    ),
}  # fmt: skip
NORM = """(float[N,3,4] x) => (float[] y) <int64[1] l = {-1}, int64[2] k = {1,2}, int64[1] j = {1},
float e = {0.01}, float w = {2}, float n = {1}, float[4] g = {1,2,3,4}, float[4] b = {4,3,2,1},
float[3,1] h = {1,2,3}>"""
NORMALIZATIONS = {
    "layer": (
        f"""{NORM} {{ m = ReduceMean(x, l) d = Sub(x, m) q = Pow(d, w) v = ReduceMean(q, l)
        a = Add(v, e) r = Sqrt(a) c = Div(d, r) f = Mul(c, g) y = Add(f, b) }}""",
        ["LayerNormalization"], 9,
    ),
    "layer without scale, over two axes": (
        f"""{NORM} {{ m = ReduceMean(x, k) d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, k)
        a = Add(e, v) r = Sqrt(a) i = Reciprocal(r) y = Mul(i, d) }}""",
        ["LayerNormalization"], 8,
    ),
    "layer with scales of rows": (
        f"""{NORM} {{ m = ReduceMean(x, k) d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, k)
        a = Add(e, v) r = Sqrt(a) c = Div(d, r) f = Mul(h, c) y = Add(f, b) }}""",
        ["LayerNormalization"], 9,
    ),
    "layer with a mean of other axes": (
        f"""{NORM} {{ m = ReduceMean(x, j) d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, l)
        a = Add(e, v) r = Sqrt(a) c = Div(d, r) y = Mul(c, g) }}""",
        ["ReduceMean", "Sub", "RMSNormalization"], 6,
    ),
    "layer over an axis before the last": (
        f"""{NORM} {{ m = ReduceMean(x, j) d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, j)
        a = Add(e, v) r = Sqrt(a) y = Div(d, r) }}""",
        None, 0,
    ),
    "layer with another power": (
        f"""{NORM} {{ m = ReduceMean(x, l) d = Sub(x, m) a = Abs(d) q = Pow(a, n)
        v = ReduceMean(q, l) c = Add(v, e) r = Sqrt(c) y = Div(d, r) }}""",
        None, 0,
    ),
    "layer of which others use the root": (
        f"""{NORM} {{ m = ReduceMean(x, l) d = Sub(x, m) q = Pow(d, w) v = ReduceMean(q, l)
        a = Add(v, e) r = Sqrt(a) c = Div(d, r) y = Add(c, r) }}""",
        None, 0,
    ),
    "layer of which others use what it normalizes": (
        f"""{NORM} {{ m = ReduceMean(x, l) d = Sub(x, m) q = Pow(d, w) v = ReduceMean(q, l)
        a = Add(v, e) r = Sqrt(a) c = Div(d, r) f = Mul(c, g) y = Add(c, f) }}""",
        ["LayerNormalization", "Mul", "Add"], 7,
    ),
    "the root mean square": (
        f"""{NORM} {{ q = Mul(x, x) v = ReduceMean(q, l) a = Add(v, e) r = Sqrt(a)
        i = Div(n, r) c = Mul(x, i) y = Mul(g, c) }}""",
        ["RMSNormalization"], 7,
    ),
    "the root mean square, shifted": (
        f"""{NORM} {{ q = Pow(x, w) v = ReduceMean(q, l) a = Add(v, e) r = Sqrt(a) c = Div(x, r)
        y = Add(c, b) }}""",
        ["RMSNormalization", "Add"], 5,
    ),
    "without the axis": (
        f"""{NORM} {{ q = Pow(x, w) v = ReduceMean<keepdims=1>(q) a = Add(v, e) r = Sqrt(a)
        y = Div(x, r) }}""",
        None, 0,
    ),
}  # fmt: skip
GELU = """(float[N,3] x, float[N,3] z) => (float[] y) <float k = {0.044715}, float h = {0.5},
float s = {0.7978846}, float o = {1}, float t = {3}, float u = {6}, float l = {0}, float w = {2}>"""
ACTIVATIONS = {
    "gelu of tanh": (
        f"""{GELU} {{ p = Pow(x, t) q = Mul(k, p) r = Add(x, q) a = Mul(r, s) b = Tanh(a)
        c = Add(b, o) d = Mul(x, h) e = Mul(d, c) y = Mul(e, z) }}""", ["Gelu", "Mul"], 8,
    ),
    "gelu of tanh by products": (
        f"""{GELU} {{ p = Mul(x, x) g = Mul(p, x) q = Mul(g, k) r = Add(q, x) a = Mul(s, r)
        b = Tanh(a) c = Add(o, b) d = Mul(h, c) e = Mul(x, d) y = Mul(e, z) }}""",
        ["Gelu", "Mul"], 9,
    ),
    "gelu of tanh of another": (
        f"""{GELU} {{ p = Pow(z, t) q = Mul(k, p) r = Add(x, q) a = Mul(r, s) b = Tanh(a)
        c = Add(b, o) d = Mul(x, h) y = Mul(d, c) }}""", None, 0,
    ),
    "gelu of tanh of a square": (
        f"""{GELU} {{ p = Pow(x, w) q = Mul(k, p) r = Add(x, q) a = Mul(r, s) b = Tanh(a)
        c = Add(b, o) d = Mul(x, h) e = Mul(d, c) y = Mul(e, z) }}""", None, 0,
    ),
    "hard swish": (
        f"""{GELU} {{ a = HardSigmoid<alpha=0.16666667, beta=0.5>(x) b = Mul(a, x)
        y = Mul(b, z) }}""", ["HardSwish", "Mul"], 2,
    ),
    "hard swish by a clip": (
        f"""{GELU} {{ a = Add(x, t) b = Clip(a, l, u) c = Mul(x, b) d = Div(c, u)
        y = Mul(d, z) }}""", ["HardSwish", "Mul"], 4,
    ),
    "hard swish by a clip, divided first": (
        f"""{GELU} {{ a = Add(t, x) b = Clip(a, l, u) c = Div(b, u) d = Mul(x, c)
        y = Mul(d, z) }}""", ["HardSwish", "Mul"], 4,
    ),
    "no hard swish": (
        f"""{GELU} {{ a = Add(x, t) b = Clip(a, l, u) c = Mul(z, b) d = Div(c, u)
        e = HardSigmoid(x) f = Mul(e, x) y = Mul(d, f) }}""", None, 0,
    ),
    "gelu of a number, by constants with an axis": (
        """(float x) => (float[1] y) <float[1] k = {1.4142135}, float[1] o = {1}, float h = {0.5}>
        { a = Div(x, k) b = Erf(a) c = Add(b, o) d = Mul(x, c) y = Mul(d, h) }""", None, 0,
    ),
    "gelu of a number": (
        """(float x, float z) => (float y) <float k = {1.4142135}, float o = {1}, float h = {0.5}>
        { a = Div(x, k) b = Erf(a) c = Add(b, o) d = Mul(x, c) e = Mul(d, h) y = Mul(e, z) }""",
        ["Gelu", "Mul"], 5,
    ),
    "hard swish of a number, by constants with an axis": (
        """(float x) => (float[1] y) <float[1] t = {3}, float[1] u = {6}, float l = {0},
        float m = {6}>
        { a = Add(x, t) b = Clip(a, l, m) c = Mul(x, b) y = Div(c, u) }""", None, 0,
    ),
}  # fmt: skip
HEADS = """(float[2,3,5,4] q, float[2,3,6,4] k, float[2,3,6,4] v, float[5,6] m) => (float[] y)
<float s = {0.5}, float w = {4}>"""
FILLED = """(float[2,3,5,4] q, float[2,3,6,4] k, float[2,3,6,4] v, bool[5,6] o, float[5,6] m)
=> (float[] y) <float s = {0.5}, float w = {-4}, float h = {-2000000000}, float l = {-1e38},
bool[1,6] z = {0,1,0,1,1,1}>"""
ALONE = HEADS.replace("2,3,", "2,")
ONE_HEAD = ["Unsqueeze", "Unsqueeze", "Unsqueeze", "Attention", "Squeeze"]
ATTENTION = {
    "alone": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) b = Mul(a, s)
        c = Softmax(b) d = MatMul(c, v) y = Mul(d, m2) }}""".replace("m2", "s"),
        ["Attention", "Mul"], 5,
    ),
    "masked": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) b = Div(a, w)
        e = Add(b, m) c = Softmax<axis=3>(e) d = MatMul(c, v) y = Neg(d) }}""",
        ["Attention", "Neg"], 6,
    ),
    "of positions before heads": (
        f"""{HEADS} {{ t = Transpose<perm=[0,2,3,1]>(r) a = MatMul(q, t) c = Softmax(a)
        d = MatMul(c, v) y = Neg(d) }}""".replace("float[2,3,6,4] k", "float[2,6,3,4] r"),
        ["Transpose", "Attention", "Neg"], 4,
    ),
    "over another axis": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) c = Softmax<axis=2>(a)
        y = MatMul(c, v) }}""", None, 0,
    ),
    "that others use": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) c = Softmax(a)
        y = MatMul(c, v) }}""".replace("(float[] y)", "(float[] y, float[] c)"), None, 0,
    ),
    "masked by heads": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) e = Add(r, a)
        c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""".replace("[5,6] m", "[2,1,1,6] r"),
        ["Attention", "Neg"], 5,
    ),
    "of a mask for all keys": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) e = Add(a, m)
        c = Softmax(e) y = MatMul(c, v) }}""".replace("[5,6] m", "[5,1] m"), None, 0,
    ),
    "of a mask of more batches": (
        """(float[1,3,5,4] q, float[1,3,6,4] k, float[1,3,6,4] v, float[2,1,5,6] m) => (float[] y)
        { t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) e = Add(a, m) c = Softmax(e)
        y = MatMul(c, v) }""", None, 0,
    ),
    "of scores that are kept": (
        f"""{FILLED} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) b = Mul(a, s)
        e = Where(o, b, l) c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""",
        ["Where", "Attention", "Neg"], 6,
    ),
    "of scores that are left out": (
        f"""{FILLED} {{ n = Greater(m, s) t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t)
        e = Where(n, l, a) c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""",
        ["Greater", "Where", "Attention", "Neg"], 5,
    ),
    "of a number that weighs": (
        f"""{FILLED} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) e = Where(o, a, w)
        c = Softmax(e) y = MatMul(c, v) }}""", None, 0,
    ),
    "of a number that leaves something": (
        f"""{FILLED} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) e = Where(o, a, h)
        c = Softmax(e) y = MatMul(c, v) }}""", None, 0,
    ),
    "of a number that leaves something, with keys for all": (
        f"""{FILLED} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) e = Where(z, a, h)
        c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""", ["Where", "Attention", "Neg"], 5,
    ),
    "of a negative scale": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) b = Mul(a, s)
        c = Softmax(b) y = MatMul(c, v) }}""".replace("s = {0.5}", "s = {-0.5}"), None, 0,
    ),
    "of a scale of zero": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) b = Mul(a, s)
        c = Softmax(b) y = MatMul(c, v) }}""".replace("s = {0.5}", "s = {0}"), None, 0,
    ),
    "of three axes": (
        f"""{ALONE} {{ t = Transpose<perm=[0,2,1]>(k) a = MatMul(q, t) b = Mul(a, s)
        c = Softmax(b) d = MatMul(c, v) y = Neg(d) }}""", [*ONE_HEAD, "Neg"], 5,
    ),
    "of three axes, positions first": (
        f"""{ALONE} {{ t = Transpose<perm=[1,2,0]>(r) a = MatMul(q, t) c = Softmax<axis=2>(a)
        d = MatMul(c, v) y = Neg(d) }}""".replace("float[2,6,4] k", "float[6,2,4] r"),
        ["Transpose", *ONE_HEAD, "Neg"], 4,
    ),
    "of three axes, masked by positions": (
        f"""{ALONE} {{ t = Transpose<perm=[0,2,1]>(k) a = MatMul(q, t) e = Add(a, m)
        c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""", [*ONE_HEAD, "Neg"], 5,
    ),
    "of three axes, masked by rows": (
        f"""{ALONE} {{ t = Transpose<perm=[0,2,1]>(k) a = MatMul(q, t) e = Add(r, a)
        c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""".replace("[5,6] m", "[2,1,6] r"),
        ["Unsqueeze", *ONE_HEAD, "Neg"], 5,
    ),
    "of three axes, of scores that are kept": (
        f"""{FILLED} {{ t = Transpose<perm=[0,2,1]>(k) a = MatMul(q, t) e = Where(r, a, l)
        c = Softmax(e) d = MatMul(c, v) y = Neg(d) }}""".replace("2,3,", "2,").replace(
            "bool[5,6] o", "bool[2,5,6] r"
        ),
        ["Where", "Unsqueeze", *ONE_HEAD, "Neg"], 5,
    ),
    "of three axes and as many heads as batches": (
        """(float[2,5,4] q, float[2,6,4] k, float[2,6,4] v, float[2,1,5,6] m) => (float[] y)
        { t = Transpose<perm=[0,2,1]>(k) a = MatMul(q, t) e = Add(a, m) c = Softmax(e)
        y = MatMul(c, v) }""", None, 0,
    ),
    "of three axes, over another axis": (
        f"""{ALONE} {{ t = Transpose<perm=[0,2,1]>(k) a = MatMul(q, t) c = Softmax<axis=1>(a)
        y = MatMul(c, v) }}""", None, 0,
    ),
    "of two axes": (
        """(float[5,4] q, float[6,4] k, float[6,4] v) => (float[] y)
        { t = Transpose<perm=[1,0]>(k) a = MatMul(q, t) c = Softmax(a) y = MatMul(c, v) }""",
        None, 0,
    ),
    "of one key for all heads": (
        f"""{HEADS} {{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) c = Softmax(a)
        y = MatMul(c, v) }}""".replace("float[2,3,6,4] k", "float[2,1,6,4] k"), None, 0,
    ),
}  # fmt: skip
CASES = [
    pytest.param(name, *case, id=f"{name}: {title}")
    for name, table in [
        ("algebra", ALGEBRA),
        ("transposes", TRANSPOSES),
        ("pads", PADS),
        ("scales", SCALES),
        ("normalizations", NORMALIZATIONS),
        ("activations", ACTIVATIONS),
        ("attention", ATTENTION),
    ]
    for title, case in table.items()
]


@pytest.mark.parametrize(("name", "text", "left", "gone"), CASES)
def test_pass(name, text, left, gone) -> None:
    graph = graph_of(f"g {give_weights(text)}")
    zeros = [one for one in graph.model.graph.initializers.values() if one.const_value.size == 1]
    kept = [one.const_value for one in zeros]
    filled(graph)
    for value, tensor in zip(zeros, kept, strict=True):
        value.const_value = tensor
    graph.infer()
    for node in graph.nodes:
        node.name = node.name or node.outputs[0].name
    given, operators = example(graph), [node.op_type for node in graph.nodes]
    before, specs = Plan(graph, optimize=False).run(given), graph.outputs
    report = passes.run(graph, [name])
    assert graph.outputs == specs
    if left is not None or gone == 0:
        assert [node.op_type for node in graph.nodes] == (left or operators)
    assert len(report.removed[name]) == gone
    for result, expected in zip(Plan(graph, optimize=False).run(given), before, strict=True):
        numpy.testing.assert_allclose(
            result.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-5, strict=True
        )
    assert not passes.run(graph, [name])
    onnx_ir.passes.common.CheckerPass()(graph.model)


SMALL = {
    "resnet50": {"width": 0.1, "size": 32},
    "mobilenet_v2": {"width": 0.1, "size": 32},
    "bert": {"width": 0.1, "layers": 1},
    "lenet": {},
    "lstm": {"width": 0.1, "sequence": 3},
    "unet": {"width": 0.1, "size": 16},
}


@pytest.mark.parametrize("model", SMALL)
def test_each_pass_on_each_model(model) -> None:
    graph = models.MODELS[model](**SMALL[model])
    given, specs = models.example(graph, 2), graph.outputs
    (before,) = Plan(graph, optimize=False).run(given)
    before = before.asnumpy()
    for one in passes.CPU_PASSES:
        changed = graph.copy()
        if not passes.run(changed, [one.name]):
            continue
        assert changed.outputs == specs
        (after,) = Plan(changed, optimize=False).run(given)
        numpy.testing.assert_allclose(
            after.asnumpy(), before, rtol=1e-3, atol=1e-4 * abs(before).max(), err_msg=one.name
        )
