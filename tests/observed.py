"""Compares every call of an operator that any test makes with what the operator's infer tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .told import Told

TOLD = pytest.StashKey[Told]()


def configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "after_all: is of what all other tests have done")
    config.addinivalue_line(
        "markers", "unobserved: is of calls that differ where they are observed"
    )
    config.stash[TOLD] = Told()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    if item.get_closest_marker("unobserved"):
        return (yield)
    with item.config.stash[TOLD].checked():
        return (yield)


def is_whole(config: pytest.Config, items: list[pytest.Item], last: pytest.Item) -> bool:
    """Whether all tests of the folder of a test are about to run."""
    chosen = any("::" in argument for argument in config.args)
    chosen |= bool(config.option.keyword or config.option.markexpr)
    return not chosen and {item.path for item in items}.issuperset(
        last.path.parent.rglob("test_*.py")
    )


def put_last(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts tests of what has been compared last, and leaves them out where not all tests run."""
    last = [item for item in items if item.get_closest_marker("after_all")]
    kept = [item for item in last if is_whole(config, items, item)]
    items[:] = [item for item in items if item not in last] + kept
    left_out = [item for item in last if item not in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def told(request: pytest.FixtureRequest) -> Told:
    """What infer has told of the calls of the tests so far."""
    return request.config.stash[TOLD]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    calls = config.stash[TOLD].calls()
    if calls:
        terminalreporter.write_line(
            f"{sum(calls.values())} calls of {len(calls)} operators are as their infer tells"
        )
