"""What every test run shares."""

import gc
import os

import pytest

from . import observed
from .observed import pytest_runtest_call, pytest_terminal_summary, told

__all__ = ["pytest_runtest_call", "pytest_terminal_summary", "told"]

# The library of an accelerator that arrays are on by default, instead of the CPU.
ACCELERATOR = os.environ.get("MXFFI_TEST_ACCELERATOR")


def use_accelerator(config) -> None:
    """Makes an accelerator's first device the default context of the tests' thread."""
    import mx

    config.addinivalue_line("filterwarnings", "ignore::mx.AccFallbackWarning")
    mx.load_acc(ACCELERATOR).__enter__()


def pytest_collection_modifyitems(config, items) -> None:
    """On an accelerator, leaves the tests out that are of memory which the CPU reads."""
    observed.put_last(config, items)
    if not ACCELERATOR:
        return
    of_host = [item for item in items if item.get_closest_marker("host_memory")]
    config.hook.pytest_deselected(items=of_host)
    items[:] = [item for item in items if not item.get_closest_marker("host_memory")]


@pytest.fixture(scope="module", autouse=True)
def set_aside() -> None:
    """Spares each collection of garbage the look at all tests, their reports, and all modules."""
    gc.collect()
    gc.freeze()


def pytest_configure(config) -> None:
    """Property tests are the same each time; MXFFI_EXAMPLES asks for more, and for new ones."""
    from hypothesis import settings

    # What a test compiles is compiled; those of the cache switch it on, in a folder of their own.
    os.environ["MXNET_CACHE"] = "0"
    # Graphs, plans and what torch exports are many objects and little garbage: looked at after each
    # 700 of them, as is the default, they take a tenth of all tests' time.
    gc.set_threshold(20_000, 20, 20)
    config.addinivalue_line("markers", "host_memory: is of arrays whose memory the CPU reads")
    observed.configure(config)
    if ACCELERATOR:
        use_accelerator(config)

    settings.register_profile(
        "mxffi", derandomize=True, database=None, deadline=None, max_examples=100
    )
    more = os.environ.get("MXFFI_EXAMPLES")
    if more:
        settings.register_profile("more", deadline=None, max_examples=int(more))
    settings.load_profile("more" if more else "mxffi")


def pytest_report_header() -> list[str]:
    """Names the path that is tested, which the environment variables below choose."""
    import ffi

    chosen = {
        name: os.environ[name]
        for name in ("MXNET_ENABLE_CYTHON", "MXNET_ENFORCE_CYTHON")
        if name in os.environ
    }
    return [f"ffi: {ffi.backend}, {chosen or 'chosen by default'}, {os.path.dirname(ffi.__file__)}"]
