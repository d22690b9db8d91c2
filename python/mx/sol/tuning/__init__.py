"""Which backend executes each layer of a model: measured on its real shapes, or by a table."""

from ._choices import Choices
from ._tuner import Tuner, tune
from ._tuning import Candidate, TunedLayer, Tuning

__all__ = ["Candidate", "Choices", "TunedLayer", "Tuner", "Tuning", "tune"]
