"""Products of matrices of oneDNN against NumPy, and the weights that kernels pack."""

import numpy as np
import pytest

import mx

from .kernels import Input, array, check, dnn, normal, run

PRODUCTS = {
    "matrices": ((5, 7), (7, 9), {}),
    "a row": ((1, 64), (64, 10), {}),
    "a column": ((17, 64), (64, 1), {}),
    "rows of more axes": ((2, 3, 5, 7), (7, 9), {}),
    "batches": ((2, 3, 5, 7), (2, 3, 7, 9), {}),
    "broadcast left": ((3, 1, 5, 7), (3, 4, 7, 9), {}),
    "broadcast right": ((3, 4, 5, 7), (3, 1, 7, 9), {}),
    "broadcast both": ((3, 1, 5, 7), (4, 7, 9), {}),
    "transposed b": ((5, 7), (9, 7), {"transpose_b": True}),
    "transposed a": ((7, 5), (7, 9), {"transpose_a": True}),
    "transposed both, batches": ((2, 7, 5), (2, 9, 7), {"transpose_a": True, "transpose_b": True}),
    "alpha": ((2, 5, 7), (2, 7, 9), {"alpha": 0.125}),
    "transposed a, one b": ((2, 7, 5), (7, 9), {"transpose_a": True}),
}


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("constants", ["", "a", "b"])
@pytest.mark.parametrize(("a", "b", "attributes"), PRODUCTS.values(), ids=PRODUCTS)
def test_matmul(a, b, attributes, constants, has_bias):
    left, right = normal(*a), normal(*b)
    first = left.swapaxes(-1, -2) if attributes.get("transpose_a") else left
    second = right.swapaxes(-1, -2) if attributes.get("transpose_b") else right
    expected = np.float64(first) @ second * attributes.get("alpha", 1)
    bias = normal(expected.shape[-1]) if has_bias else None
    constant = None if bias is None else array(bias)
    expected = expected if bias is None else expected + bias
    primitive = dnn.matmul(
        array(left) if constants == "a" else Input(a),
        array(right) if constants == "b" else Input(b),
        constant,
        **attributes,
    )
    inputs = [x for name, x in (("a", left), ("b", right)) if name != constants]
    check(primitive, inputs, expected)


@pytest.mark.parametrize("shape", [(3, 20), (1, 2048), (2, 5, 4, 3), (2, 32, 7, 7)])
def test_inner_product(shape):
    data, weights, bias = normal(*shape), normal(6, np.prod(shape[1:])), normal(6)
    primitive = dnn.inner_product(Input(shape), array(weights), array(bias))
    assert not primitive.is_reference
    check(primitive, [data], np.float64(data.reshape(shape[0], -1)) @ weights.T + bias)


def test_constants_are_owned():
    weights = mx.np.ones((4, 4))
    made = dnn.matmul(Input((2, 4)), weights)
    weights[:] = 7
    del weights
    (result,) = run(made, mx.np.ones((2, 4)))
    assert result.tolist() == [[4] * 4] * 2


def test_constants_may_be_views():
    weights = normal(6, 8)
    made = dnn.matmul(Input((2, 6)), array(weights.T.copy()).T)
    data = normal(2, 6)
    check(made, [data], np.float64(data) @ weights)


def test_weights_are_packed_once_for_kernels_of_several_shapes():
    elements = normal(64, 48)
    weight = dnn.Weight(array(elements))
    for rows in (1, 5, 300):
        a = normal(rows, 64)
        check(dnn.matmul(Input(a.shape), weight), [a], a @ elements)
    assert 1 <= weight.num_packed <= 2
    # Given up, and made again where another layout is asked for.
    assert weight.release() and weight.num_packed >= 1
    b = normal(3, 48)
    check(dnn.matmul(Input(b.shape), weight, transpose_b=True), [b], b @ elements.T)
    assert weight.array().tolist() == elements.tolist()
    with pytest.raises(ValueError, match="row-major without gaps"):
        dnn.Weight(array(elements).T)


def test_weights_that_cannot_be_made_again_stay():
    elements = normal(1, 8, 3)
    weight, recurrent = dnn.Weight(array(elements)), array(normal(1, 8, 2))
    assert not weight.release()
    dnn.recurrent(Input((4, 1, 3)), weight, recurrent)
    assert weight.num_packed == 0 and not weight.release()
    assert weight.array().tolist() == elements.tolist()
