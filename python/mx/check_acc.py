"""`mxacc-check`, or `python -m mx.check_acc`: does an accelerator library keep to mxnet_acc.h?"""

import sys

from ._acc.check.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
