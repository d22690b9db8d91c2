"""Where things are: the source tree, and the native files of the packages under test."""

import sysconfig
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXT_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")

RUNTIME_LIBRARY = "ffi/lib/libmxnet_runtime.so"
ACC_SERVER = "ffi/lib/mxnet_acc_server"
OPERATOR_LIBRARY = "mx/lib/libmxnet_operators.so"
ONEDNN_LIBRARY = "mx/lib/libmxnet_onednn.so"
CHECK_LIBRARY = "mxacc_check/lib/libmxacc_check.so"
BLAS_LIBRARY = "mx/lib/libscipy_openblas.so"
BLAS_LICENSE = "mx/lib/LICENSE.openblas.txt"
CORE_MODULE = f"ffi/_cython/core{EXT_SUFFIX}"
NDARRAY_MODULE = f"mx/_cython/ndarray{EXT_SUFFIX}"
LATEST_MODULE = f"mx/_cython/latest{EXT_SUFFIX}"
WATCH_MODULE = f"mx/_cython/watch{EXT_SUFFIX}"


def installed(name: str) -> Path:
    """The file `name`, such as RUNTIME_LIBRARY, of the packages that this interpreter imports."""
    package, _, rest = name.partition("/")
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / rest
