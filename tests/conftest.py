"""What every test run shares."""

import os


def pytest_report_header() -> list[str]:
    """Names the path that is tested, which the environment variables below choose."""
    import ffi

    chosen = {
        name: os.environ[name]
        for name in ("MXNET_ENABLE_CYTHON", "MXNET_ENFORCE_CYTHON")
        if name in os.environ
    }
    return [f"ffi: {ffi.backend}, {chosen or 'chosen by default'}, {os.path.dirname(ffi.__file__)}"]
