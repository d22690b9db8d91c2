"""Compares every call of an operator that these tests make with what the operator's infer tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .told import Told

TOLD = pytest.StashKey[Told]()
HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
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


def is_whole(config: pytest.Config, items: list[pytest.Item]) -> bool:
    """Whether all tests of this folder are about to run."""
    chosen = any("::" in argument for argument in config.args) or config.option.keyword
    files = {item.path for item in items}
    return not chosen and files.issuperset(HERE.glob("test_*.py"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts the test of what has been compared last, and leaves it out where not all tests run."""
    last = [item for item in items if item.get_closest_marker("after_all")]
    items[:] = [item for item in items if item not in last]
    if is_whole(config, items):
        items += last
    else:
        config.hook.pytest_deselected(items=last)


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
