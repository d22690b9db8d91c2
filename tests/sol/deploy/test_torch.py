"""Modules of torch that are deployed, also those that were trained meanwhile."""

from __future__ import annotations

import numpy
import pytest

from mx import sol
from mx.graph import GraphError

from .loaded import Library

torch = pytest.importorskip("torch")


class Network(torch.nn.Module):
    """Gives two outputs, by name; one by positions in a table."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(7, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.head = torch.nn.Linear(8, 3)

    def forward(self, tokens, scale):
        hidden = self.norm(self.table(tokens).mean(1)) * scale
        return {"scores": self.head(hidden).softmax(-1), "hidden": hidden}


def test_after_training(tmp_path) -> None:
    torch.manual_seed(0)
    model = Network()
    tokens, scale = torch.randint(0, 7, (4, 5)), torch.rand(4, 1)
    fast = sol.optimize(model.eval(), tokens, scale)
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    for _ in range(3):
        optimizer.zero_grad()
        model.train()(tokens, scale)["scores"][:, 0].sum().backward()
        optimizer.step()
    model.eval()
    made = sol.deploy(fast, path=tmp_path)
    assert [path.name for path in made.files] == [
        "libnetwork.so",
        "network.h",
        "networkConfig.cmake",
    ]
    header = made.files[1].read_text()
    assert "const int64_t *tokens_4x5" in header and "float *scores_4x3" in header
    outputs = [numpy.zeros((4, 3), "float32"), numpy.zeros((4, 8), "float32")]
    library = Library(made.files[0])
    assert library.call([tokens.numpy(), scale.numpy(), *outputs]) == 0
    with torch.no_grad():
        expected = model(tokens, scale)
    for came, wanted in zip(outputs, expected.values(), strict=True):
        numpy.testing.assert_allclose(came, wanted.numpy(), rtol=1e-4, atol=1e-5)
    assert library.call([tokens.numpy() + 7, scale.numpy(), *outputs]) == 0
    assert numpy.isnan(outputs[1]).all()


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_modules_inside_that_are_in_training(tmp_path, layout) -> None:
    """They are in training in the library, too: the batch has statistics of its own."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 5, 3), torch.nn.BatchNorm2d(5), torch.nn.ReLU())
    model.eval()[1].train()
    x, before = torch.rand(2, 3, 6, 7), model.state_dict()["1.running_mean"].clone()
    options = {} if layout == "NCHW" else {"layout": layout}
    given = (x if layout == "NCHW" else x.permute(0, 2, 3, 1)).contiguous()
    made = sol.deploy(sol.optimize(model, x, **options), path=tmp_path)
    assert model[1].training and torch.equal(model[1].running_mean, before)
    with torch.no_grad():
        expected = model(x)
    if layout == "NHWC":
        expected = expected.permute(0, 2, 3, 1)
    output = numpy.zeros(expected.shape, "float32")
    assert Library(made.files[0]).call([given.numpy(), output]) == 0
    numpy.testing.assert_allclose(output, expected.numpy(), rtol=1e-4, atol=1e-5)
    # A module that is in training itself is deployed for inference.
    made = sol.deploy(sol.optimize(model.train(), x, **options), path=tmp_path / "eval")
    with torch.no_grad():
        inferred = model.eval()(x)
    assert Library(made.files[0]).call([given.numpy(), output]) == 0
    wanted = inferred if layout == "NCHW" else inferred.permute(0, 2, 3, 1)
    numpy.testing.assert_allclose(output, wanted.numpy(), rtol=1e-4, atol=1e-5)


def test_dropout_that_is_in_training_drops(tmp_path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5)).eval()
    model[1].train()
    x = torch.rand(2, 3)
    library = Library(sol.deploy(sol.optimize(model, x), path=tmp_path).files[0])
    found = numpy.zeros((200, 2, 3), "float32")
    for number, one in enumerate(found):
        assert library.call([x.numpy(), numpy.array([number, 0]), one]) == 0
    with torch.no_grad():
        whole = 2 * model[0](x).numpy()
    numpy.testing.assert_allclose(found, whole * (found != 0), rtol=1e-5, atol=1e-6)
    assert 0.4 < (found == 0).mean() < 0.6


class Choosing(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def test_parts_are_rejected(tmp_path) -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    model = torch.nn.Sequential(inner, Choosing()).eval()
    with pytest.warns(sol.SolWarning):
        fast = sol.optimize(model, torch.rand(2, 4), fallback=True)
    with pytest.raises(GraphError, match="only the parts 0 of the model are optimized"):
        sol.deploy(fast, path=tmp_path)


def test_the_error_names_the_module(tmp_path) -> None:
    class Positive(torch.nn.Module):
        def forward(self, x):
            return x[x > 0]

    model = torch.nn.Sequential(torch.nn.Identity(), Positive()).eval()
    fast = sol.optimize(model, torch.rand(2, 2))
    with pytest.raises(GraphError, match=r"test_torch.py:\d+: cannot be deployed: elements decide"):
        sol.deploy(fast, path=tmp_path)


class Convolutions(torch.nn.Module):
    """Convolutions of two and three axes, and one whose weights are computed."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.depthwise = torch.nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.back = torch.nn.ConvTranspose2d(8, 4, 3, 2, 1, 1)
        self.volume = torch.nn.Conv3d(2, 3, 2)

    def forward(self, x, scale):
        hidden = self.depthwise(torch.relu(self.norm(self.first(x))))
        hidden = torch.nn.functional.max_pool2d(self.back(hidden), 2)
        computed = torch.nn.functional.conv2d(x, self.first.weight * scale)
        return self.volume(hidden.reshape(2, 2, 2, 4, 4)).mean((2, 3, 4)), computed


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_convolutions_of_any_kind(tmp_path, dtype) -> None:
    torch.manual_seed(0)
    model = Convolutions()
    x, scale = torch.randn(2, 3, 8, 8), torch.randn(8, 1, 1, 1)
    model(x, scale)
    model, x, scale = model.eval().to(dtype), x.to(dtype), scale.to(dtype)
    made = sol.deploy(sol.optimize(model, x, scale), path=tmp_path)
    with torch.no_grad():
        expected = [one.numpy() for one in model(x, scale)]
    outputs = [numpy.zeros_like(one) for one in expected]
    library = Library(made.files[0])
    assert library.call([x.numpy(), scale.numpy(), *outputs]) == 0
    tolerance = 1e-12 if dtype == torch.float64 else 1e-4
    for came, wanted in zip(outputs, expected, strict=True):
        numpy.testing.assert_allclose(came, wanted, rtol=tolerance, atol=tolerance)
