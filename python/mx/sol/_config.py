"""Settings of the package: `sol.config["fallback"] = True`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

# The settings with their values at the start, and what they mean.
_SETTINGS: dict[str, tuple[Any, str]] = {
    "fallback": (False, "what `optimize` takes for `fallback` where it is not given"),
    "autotune": (False, "whether models are tuned before they run for the first time"),
    "tuning_seconds": (5, "how long tuning measures one model, at most"),
    "watch_variables": (
        True,
        "whether each call looks for assignments to variables of TensorFlow, some microseconds for"
        " each; else `refresh` has them read",
    ),
    "keep_nan": (
        False,
        "whether plans take kernels that make no number of a NaN, as the fastest of Relu, MaxPool, "
        "Softmax and others do; slower, to find where a NaN is from",
    ),
    "precision": ("float32", "what `optimize` takes for `precision` where it is not given"),
    "profile_runs": (5, "how often `report` runs a model for the times that it tells"),
}
PRECISIONS = ("float32", "int8", "bf16")
# What settings may be, where not all of their type.
_ALLOWED = {"precision": PRECISIONS}


class Config(MutableMapping[str, Any]):
    """The settings by name. KeyError for one that is none, TypeError for a value of another type,
    ValueError for one that it may not be."""

    def __init__(self) -> None:
        self._values = {name: value for name, (value, _) in _SETTINGS.items()}

    def __getitem__(self, name: str) -> Any:
        self._check(name)
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._check(name)
        expected = type(_SETTINGS[name][0])
        if type(value) is not expected:
            raise TypeError(
                f"sol.config[{name!r}]: expected {expected.__name__}, got {type(value).__name__}"
            )
        if expected is int and value < 1:
            raise ValueError(f"sol.config[{name!r}]: expected 1 or more, got {value}")
        if value not in _ALLOWED.get(name, (value,)):
            allowed = ", ".join(_ALLOWED[name])
            raise ValueError(f"sol.config[{name!r}]: expected one of {allowed}, got {value!r}")
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        """Sets a setting to what it was at the start."""
        self._check(name)
        self._values[name] = _SETTINGS[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        rows = [f"{name} = {self._values[name]!r}: {text}" for name, (_, text) in _SETTINGS.items()]
        return "\n".join(rows)

    def _check(self, name: str) -> None:
        if name not in tuple(_SETTINGS):
            raise KeyError(f"sol.config: {name!r} is no setting: there are {', '.join(_SETTINGS)}")


config = Config()
