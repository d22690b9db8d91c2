"""`python -m mx` lists the commands."""

import sys

from ._cli import main

sys.exit(main())
