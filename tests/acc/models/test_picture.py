"""The picture in README.md is what the code draws today."""

from pathlib import Path

import mx
from tools.write_picture import PICTURE, ROOT, picture


def test_the_picture_of_the_readme(accelerators: Path) -> None:
    ctx = mx.load_acc(accelerators / "librefacc.so")
    drawn = picture(ctx)
    mx.unload_acc("refacc")
    assert PICTURE.read_text(encoding="utf-8") == drawn, "python -m tools.write_picture writes it"
    assert str(PICTURE.relative_to(ROOT)) in (ROOT / "README.md").read_text(encoding="utf-8")
