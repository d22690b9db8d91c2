"""Reference pages."""

import pytest

from ffi import reference


@pytest.mark.parametrize(
    "text",
    [
        "## `testing.Mode`\n\nHow a result is rounded.\n\n"
        "- **FAST** = 1: To the next number below.\n",
        "- **SLOW** = -3\n",
        "## `testing.total`\n\n```python\ntesting.total(first: int, *others: int) -> int\n```\n\n"
        "Adds numbers up.\n\n- **first** (`int`): Where the sum starts.\n"
        "- **\\*others** (`int`): What is added.\n",
        "## `testing.overloaded`\n\nReturns the text of which overload was called, and with what."
        "\n\n```python\ntesting.overloaded(a: int, b: int = 1) -> str\n```\n\nAdds integers.\n",
        "## `testing.keyword\\_only`".replace("\\", ""),
    ],
)
def test_page(text):
    assert text in reference.render("testing")


def test_level():
    assert "\n#### `testing.nop`\n" in reference.render("testing", level=4)


def test_nothing_registered():
    with pytest.raises(KeyError, match=r"nothing is registered as nobody\.name"):
        reference.render("nobody")
