"""What the processor of the tests has, of which some of oneDNN's kernels are."""

from pathlib import Path

FLAGS = frozenset(Path("/proc/cpuinfo").read_text().split())
"""The names of its instructions, as Linux has them."""
