"""Writes the pictures of docs/guide/sol-listings.md: `python -m tools.write_reports`.

The page itself makes them: it is run in a temporary folder, and the SVG files that its code writes
become those of docs/images.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "sol-listings.md"
IMAGES = ROOT / "docs" / "images"


def main() -> None:
    """Runs the page and takes its pictures."""
    runner = ROOT / "tests" / "docs" / "page.py"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(runner), str(PAGE), folder], check=True)
        for path in Path(folder).glob("*.svg"):
            (IMAGES / path.name).write_text(path.read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    main()
