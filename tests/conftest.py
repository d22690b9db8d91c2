"""What every test run shares."""

import os


def pytest_configure() -> None:
    """Property tests are the same each time; MXFFI_EXAMPLES asks for more, and for new ones."""
    from hypothesis import settings

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
