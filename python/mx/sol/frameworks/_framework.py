"""What a framework gives: the model as a graph, and the optimized model as one of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import onnx_ir

from ...context import Context
from ...graph import Graph, GraphError
from ...graph.passes import Pass
from ..dims import Choice, Dimensions

if TYPE_CHECKING:
    from .._compiled import Compiled

Weight = onnx_ir.TensorProtocol


@dataclass(frozen=True)
class Parsed:
    """The graph of a model, and for which lengths of its dimensions it is right."""

    graph: Graph
    # Whether it is, for shapes of all inputs.
    holds: Callable[[Sequence[tuple[int, ...]]], bool]


@dataclass(frozen=True)
class InTraining:
    """What a model does in training, for inputs of known shapes.

    The graph takes the inputs of the model, then the elements of `weights`, then, with `has_seed`,
    two integers that all random elements follow from. Behind the outputs of the model it gives the
    losses that its layers add, and then what the weights become that `writes` names. Weights that
    count calls are not in it: `counters` has by how much a call increases each.
    """

    graph: Graph
    weights: tuple[str, ...]
    writes: tuple[str, ...]
    has_seed: bool
    num_losses: int = 0
    # The layers that add these.
    adding_losses: tuple[str, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)


class Holder:
    """What has the weights of a model, and notices when they are written."""

    def weights(self) -> Mapping[str, Weight] | None:
        """The elements that weights have now, by name; None where they never change."""
        return None

    def has_changed(self) -> bool:
        """Whether weights have been changed since `look`. Raises TypeError where the model has been
        changed so that its graph is another one."""
        return False

    def look(self) -> None:
        """Takes the weights as they are now for those that `has_changed` compares with."""
        return None


class Source(Holder, ABC):
    """A model of a framework with an example of its arguments."""

    name: str
    # The arrays of the example in the order of the graph's inputs; None where there was none.
    example: Sequence[Any] | None
    # Buffers of the model that a call changes.
    changes: Sequence[str] = ()
    # Where the graph that was parsed last is from, for reports; "" where that is known anyway.
    origin: str = ""
    # Where images have their channels: "NCHW" or "NHWC".
    layout: str = "NCHW"
    # Whether the example is a call in training.
    is_training: bool = False

    @property
    def has_modes(self) -> bool:
        """Whether `parse_for_training` tells what the model does in training."""
        return False

    @abstractmethod
    def dimensions(self) -> Dimensions:
        """Which dimensions may vary."""

    @abstractmethod
    def parse(self, choice: Choice | None) -> Parsed:
        """The graph with the dimensions that vary; all are as in the example for None."""

    @abstractmethod
    def parse_for(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The graph for these shapes of inputs alone, where the one of `parse` does not hold."""

    def parse_as_called(self, shapes: Sequence[tuple[int, ...]]) -> Graph | None:
        """What a call without gradients computes for these shapes, where that is something else
        than `parse` gives, as some layers are in training."""
        return None

    def execute_elsewhere(self) -> None:
        """Has `parse` give what a call computes: another framework executes the model, which does
        not look at the modes of its layers."""
        return None

    def parse_for_gradients(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The same with nodes where the model ends gradients."""
        return self.parse_for(shapes)

    def parse_for_training(
        self, axes: Sequence[Sequence[int | str | None]], training: bool = True
    ) -> InTraining:
        """What a call does in training, or, without `training`, in inference, with what it writes
        to weights and the losses that layers add. It is for inputs of these axes; those that vary
        have names, or are as in the example where a graph has to have lengths.

        Only for a source that `has_modes`. GraphError for what the graph cannot have.
        """
        raise NotImplementedError(f"{self.name}: its framework has no training")

    def weights_of_training(self) -> Mapping[str, Weight]:
        """The weights, none of them trained, that calls in training have beside those of `parse`:
        what counts calls, say."""
        return {}

    def frozen(self) -> Collection[str]:
        """The weights that are parameters of the model, and are not trained as it is now."""
        return ()

    def modes(self) -> tuple[bool, ...]:
        """What decides what layers do in training, and may be another at the next call."""
        return ()

    def key(self) -> str | None:
        """What tells the graph that `parse` gave for the example, with the elements of all weights
        that it had then, from all others, in other processes, too; None where that is not known,
        or weights are others now."""
        return None

    def base(self) -> Source:
        """What a model was parsed to before conventions of others were applied: itself here."""
        return self

    @abstractmethod
    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays among the arguments of a call, in the order of the graph's inputs.

        TypeError or ValueError, which name the argument, where they are not like the example's.
        """

    @abstractmethod
    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """The graph's outputs in the structure in which the model returns them."""


class Framework(ABC):
    """A plugin: one framework."""

    name: str
    # What models of it are called in messages; "" where it has none of its own.
    models: str
    # The framework that optimized models are for, unless the user says which.
    target: str

    @abstractmethod
    def reads(self, model: object) -> bool:
        """Whether a model is of this framework; imports nothing that is not imported yet."""

    @abstractmethod
    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """The model with an example of its arguments."""

    @abstractmethod
    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """The optimized model as this framework has models. `model` is what it was made of."""

    def executes_training(self) -> bool:
        """Whether models that `wrap` gives do in training what the original does then, where its
        source `has_modes`, and keep what calls of it change."""
        return False

    def fall_back(
        self,
        model: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        how: Callable[..., Compiled],
        error: Exception,
    ) -> Any:
        """The model with what cannot be optimized executed by the framework, which a SolWarning
        says. `how(source)` plans a part, `how(source, False)` one for its example's shapes alone.

        Raises what the error is where the framework does not execute parts.
        """
        kind = GraphError if isinstance(error, GraphError) else NotImplementedError
        raise kind(
            f"sol.optimize: fallback=True: a model of {self.name} has no framework that could"
            f" execute a part: {error}"
        ) from error

    def training_step(
        self,
        model: Any,
        loss: Any,
        optimizer: Any,
        context: Context,
        passes: Sequence[Pass],
        memory_limit: int | None,
    ) -> Any:
        """What does a step of training; see sol.training_step."""
        raise NotImplementedError(f"sol.training_step: not implemented for {self.name}")

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """Where models inside a model are that have been optimized; None for a model of another
        framework."""
        return None

    @abstractmethod
    def missing(self) -> str:
        """What has to be installed for it, "" where all is there."""
