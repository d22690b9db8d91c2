"""Uses all that the package adds: `pip install .`, then `python use.py`."""

import os

import numpy
import onnx.numpy_helper
import onnx.parser
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier

import mx
from mx import sol
from mx.sol.gradient import training
from mx.sol.jits import loaded

# A framework: a model of scikit-learn, in arrays and in torch.
x, y = load_iris(return_X_y=True)
classifier = MLPClassifier((16,), max_iter=40, random_state=0, early_stopping=True).fit(x, y)
fast = sol.optimize(classifier, x)
print("framework:", type(fast).__name__, abs(fast(x) - classifier.predict_proba(x)).max() < 1e-6)

# A pass that finds a layer, which a backend of its own has the kernel of.
TEXT = """<ir_version: 10, opset_import: ["" : 20]>
wave (float[N,4] x) => (float[N,4] y) {
    sine = Sin (x)
    square = Mul (sine, sine)
    y = Add (x, square)
}"""
file = onnx.parser.parse_model(TEXT).SerializeToString()
values = numpy.linspace(-3, 3, 8, dtype="float32").reshape(2, 4)
wave = sol.optimize(file, values)
version = wave.compiled.version(((2, 4),))
print("pass:", [one.name for one in sol.report(wave).removed if one.name == "snake"])
print("backend:", [step.backend for step in version.plan.steps()])
error = abs(wave(values) - (values + numpy.sin(values) ** 2)).max()
print("layer:", error < 1e-6)

# Its gradient.
step = training(version.graph, ["x"])
backward = mx.graph.Plan(step.backward)
given = {spec.name: numpy.ones((2, 4), "float32") for spec in step.backward.inputs}
given["x"] = values
(gradient,) = backward.run({name: mx.np.array(one) for name, one in given.items()})
print("gradient:", abs(gradient.asnumpy() - (1 + numpy.sin(2 * values))).max() < 1e-5)

# A JIT, which compiles what is generated for a large product.
os.environ["MXNET_SOL_JIT"] = "cc"
TEXT = """<ir_version: 10, opset_import: ["" : 20]>
product (float[N,1024] x) => (float[N,1024] y) { y = MatMul (x, w) }"""
model = onnx.parser.parse_model(TEXT)
weight = numpy.eye(1024, dtype="float32")
model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
many = numpy.linspace(-3, 3, 1 << 17, dtype="float32").reshape(128, 1024)
product = sol.optimize(model.SerializeToString(), many)
print("jit:", (product(many) == many).all(), {library.jit for library in loaded()})

# A device.
there = sol.optimize(file, values, device="plainacc")
print("device:", abs(there(values) - wave(values)).max() < 1e-6)
