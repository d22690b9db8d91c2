"""`mxacc-check`, or `python -m mxacc_check`: does an accelerator library keep to mxnet_acc.h?"""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
