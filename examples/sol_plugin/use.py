"""Uses all that the package adds: `pip install .`, then `python use.py`."""

import numpy
import onnx.parser
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier

import mx
from mx import sol
from mx.sol.gradient import training
from mx.sol.jits import JITS

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
report = sol.report(wave)
print("pass:", [one.name for one in report.removed if one.name == "snake"])
print("backend:", "snake" in str(report))
error = abs(wave(values) - (values + numpy.sin(values) ** 2)).max()
print("layer:", error < 1e-6)

# Its gradient.
graph = wave.compiled.version(((2, 4),)).graph
step = training(graph, ["x"])
backward = mx.graph.Plan(step.backward)
given = {spec.name: numpy.ones((2, 4), "float32") for spec in step.backward.inputs}
given["x"] = values
(gradient,) = backward.run({name: mx.np.array(one) for name, one in given.items()})
print("gradient:", abs(gradient.asnumpy() - (1 + numpy.sin(2 * values))).max() < 1e-5)

# A JIT, and a device.
print("jit:", JITS.get("cc").find() is not None)
there = sol.optimize(file, values, device="plainacc")
print("device:", abs(there(values) - wave(values)).max() < 1e-6)
