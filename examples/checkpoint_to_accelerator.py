# %% [markdown]
# # From a checkpoint to an accelerator
#
# Run it as a program, `python examples/checkpoint_to_accelerator.py [LIBRARY]`, or cell by cell in
# an editor that knows `# %%` (VS Code, Spyder, PyCharm, Jupyter with Jupytext). LIBRARY is that of
# an accelerator. Without one, the library of accelerators/template is compiled: it executes Relu,
# and the CPU all else, so that this runs anywhere.
#
# It needs `pip install mxffi[graph] scikit-learn`.

# %% A network that has learned to read digits, as a checkpoint of MXNet
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import ffi.config
import mx

folder = Path(tempfile.mkdtemp())
pixels, classes = load_digits(return_X_y=True)
pixels = (pixels / 16).astype("float32")
learned = MLPClassifier((64,), batch_size=50, learning_rate_init=0.01, tol=0.01, random_state=0)
learned.fit(pixels[:1500], classes[:1500])

network = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=64, name="hidden")
network = mx.sym.Activation(network, act_type="relu", name="relu")
network = mx.sym.FullyConnected(network, num_hidden=10, name="scores")
network = mx.sym.SoftmaxOutput(network, name="softmax")
arrays = {}
for layer, weight, bias in zip(
    ("hidden", "scores"), learned.coefs_, learned.intercepts_, strict=True
):
    arrays[f"{layer}_weight"], arrays[f"{layer}_bias"] = weight.T, bias
mx.model.save_checkpoint(folder / "digits", 1, network, arrays, {})

# %% The library of an accelerator
if len(sys.argv) > 1 and Path(sys.argv[1]).is_file():
    library = Path(sys.argv[1])
else:
    library = folder / "libmymodel.so"
    source = Path(__file__).resolve().parents[1] / "accelerators" / "template" / "mymodel.c"
    compiler = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", f"-I{ffi.config.include_dir()}"]
    print(shlex.join(["cc", "...", source.name, "-o", library.name]))
    subprocess.run([*compiler, source, "-o", library], check=True)

# %% From the checkpoint to predictions on the accelerator
ctx = mx.load_acc(library)
symbol, arg_params, aux_params = mx.model.load_checkpoint(folder / "digits", 1)
module = mx.mod.Module(symbol=symbol, context=ctx)
module.bind(data_shapes=[("data", (50, 64))])
module.set_params(arg_params, aux_params, allow_missing=True)
scores = module.predict(mx.io.NDArrayIter(pixels[1500:], batch_size=50))

guessed = scores.asnumpy().argmax(1)
print(f"{(guessed == classes[1500:]).mean():.1%} of {len(guessed)} digits are read on {ctx}")
assert (guessed == learned.predict(pixels[1500:])).all()

# %% Where the nodes ran, and why not on the accelerator
print(module.summary())
graph = symbol.to_graph({"data": (50, 64)}, params={**arg_params, **aux_params})
where = mx.graph.explain(graph, ctx)
print(where)

# %% The same as a picture, with a color for each of CPU and groups on the accelerator
(folder / "digits.svg").write_text(graph.picture(where.labels()))
print(f"the picture is {folder / 'digits.svg'}")

# %% How long the parts of a run take, with the copies, and whether the results are the CPU's
plan = mx.graph.PartitionedPlan(graph, ctx, verify=True)
print(plan.profile({"data": pixels[:50]}))
