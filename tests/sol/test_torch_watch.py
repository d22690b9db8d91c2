"""What a call of an optimized module notices before its plan runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx_ir")

from mx._cython.watch import Reader, Watch  # noqa: E402

from mx import sol  # noqa: E402
from mx.importers.torch._exporting import exporting  # noqa: E402


class Network(torch.nn.Module):  # type: ignore[misc]
    """Has parameters, buffers with and without a counter of calls, and a module inside."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x: Any) -> Any:
        """Of shape (n, 3)."""
        return self.norm(self.linear(x)) * self.scale


def _replace_data(model: Any) -> None:
    model.linear.weight.data = model.linear.weight.data * 2


def _replace_parameter(model: Any) -> None:
    model.linear.weight = torch.nn.Parameter(model.linear.weight.detach() * 2)


def _write(model: Any) -> None:
    with torch.no_grad():
        model.linear.bias.mul_(2)


def _write_as_array(model: Any) -> None:
    model.scale.numpy()[:] = 2


def _count(model: Any) -> None:
    model.norm.num_batches_tracked += 1


CHANGES: list[tuple[str, Callable[[Any], Any]]] = [
    ("", lambda model: None),
    ("", lambda model: model.linear.weight.detach().sum()),
    ("training", lambda model: model.norm.train()),
    ("hooks", lambda model: model.linear.register_forward_hook(lambda *args: None)),
    ("changed", _replace_data),
    ("changed", _replace_parameter),
    ("changed", _write),
    ("changed", _write_as_array),
    ("changed", _count),
    ("changed", lambda model: setattr(model, "linear", torch.nn.Linear(3, 3))),
    ("changed", lambda model: delattr(model, "linear")),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_changes(number: int) -> None:
    """Each has a word, and only those that change an answer have one."""
    word, change = CHANGES[number]
    torch.manual_seed(0)
    model, x = Network().eval(), torch.rand(2, 3)
    fast = sol.optimize(model, x)
    with torch.no_grad():
        fast(x)
        change(model)
        assert fast._sol.state.check() == word
        if number in (4, 6, 7, 8):  # those that need no other plan than of new weights
            assert torch.allclose(fast(x), model(x), atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        (torch.rand(5, 3),),
        (torch.rand(2, 3), torch.rand(2, 3)),
        (torch.rand(2, 3, dtype=torch.float64),),
        ([[1.0, 2.0, 3.0]] * 2,),
        (torch.rand(2, 3).numpy(),),
        (),
    ],
)
def test_other_arguments_than_those_that_are_ready(arguments: Any) -> None:
    """A plan that is ready for one shape takes nothing else."""
    model, x = Network().eval(), torch.rand(2, 3)
    fast = sol.optimize(model, x)
    with torch.no_grad():
        fast(x)
        with pytest.raises((TypeError, ValueError)):
            fast(*arguments)
        assert torch.allclose(fast(x), model(x), atol=1e-6)


def test_several_shapes_and_outputs() -> None:
    """Each shape has its plan, and parameters are arguments as tensors are."""

    class Two(Network):
        def forward(self, x: Any) -> Any:
            return {"a": super().forward(x), "b": (x, x.sum())}

    model = Two().eval()
    fast = sol.optimize(model, torch.rand(2, 3), vdims=True)
    with torch.no_grad():
        for length in (2, 3, 4, 3, 2):
            x = torch.nn.Parameter(torch.rand(length, 3))
            for _ in range(2):
                got, expected = fast(x), model(x)
                assert torch.allclose(got["a"], expected["a"], atol=1e-6)
                assert torch.equal(got["b"][0], x) and got["b"][0].data_ptr() != x.data_ptr()
                assert torch.allclose(got["b"][1], expected["b"][1])


def test_what_is_watched_has_to_be_tensors() -> None:
    """Anything else is an error, as its memory is read by torch's own functions."""
    base = torch._C.TensorBase
    reader = Reader(base._version, base.data_ptr)
    with pytest.raises(TypeError, match="expected a tensor, got int"):
        Watch(
            reader,
            hooks=[],
            modules=[],
            locations=[],
            seen=[],
            counted=[1],
            weights=[],
            contents=[],
            steps=[0],
        )
    with pytest.raises(TypeError, match="expected descriptors of C"):
        Reader(len, base.data_ptr)


@pytest.mark.parametrize("what", ["weights", "modes"])
def test_what_another_thread_does_for_a_time_is_waited_for(what) -> None:
    """torch.export has others in the position of weights, and plans of training are made of modules
    in training: neither is what a call is to see."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.9)).eval()
    x, linear = torch.rand(2, 3), model[0]
    fast = sol.optimize(model, x)
    with torch.no_grad():
        expected, found = model(x), []

    def call() -> None:
        with torch.no_grad():
            found.append(fast(x))

    thread, weight = threading.Thread(target=call), linear._parameters["weight"]
    with exporting if what == "weights" else fast._sol._planning:
        if what == "weights":
            linear._parameters["weight"] = torch.nn.Parameter(torch.zeros(3, 3))
        else:
            model.train()
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
        linear._parameters["weight"] = weight
        model.eval()
    thread.join()
    torch.testing.assert_close(found[0], expected)
