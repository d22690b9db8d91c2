"""Reads what a docstring, in the style of Google or NumPy, says of each parameter."""

from __future__ import annotations

# The heads under which parameters are described, in Google's style; NumPy's are underlined.
_GOOGLE = ("Args:", "Arguments:", "Parameters:")
_NUMPY = ("Parameters", "Other Parameters")


def split(doc: str) -> tuple[str, dict[str, str]]:
    """A docstring without its sections on parameters, and what those say, by parameter."""
    kept: list[str] = []
    found: dict[str, str] = {}
    lines = doc.splitlines()
    while lines:
        if lines[0] in _GOOGLE:
            body = _take(lines, 1, lambda line: not line or line[0] == " ")
            found |= _entries(_dedent(body))
        elif lines[0] in _NUMPY and len(lines) > 1 and set(lines[1]) == {"-"}:
            found |= _entries(_take_numpy(lines))
        else:
            kept.append(lines.pop(0))
    text = "\n".join(kept)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip(), found


def _take(lines: list[str], skip: int, belongs: object) -> list[str]:
    """Removes a section from the front: `skip` lines of its head, then its body."""
    assert callable(belongs)
    end = skip
    while end < len(lines) and belongs(lines[end]):
        end += 1
    body = lines[skip:end]
    del lines[:end]
    return body


def _take_numpy(lines: list[str]) -> list[str]:
    """The section ends before the next line that is underlined."""
    del lines[:2]
    end = 0
    while end < len(lines) and not (end + 1 < len(lines) and _is_rule(lines[end + 1])):
        end += 1
    body = lines[:end]
    del lines[:end]
    return body


def _is_rule(line: str) -> bool:
    return len(line) > 2 and set(line) == {"-"}


def _dedent(lines: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    return [line[margin:] for line in lines]


def _entries(lines: list[str]) -> dict[str, str]:
    """Text by name: an entry starts where a line is not indented, `name (type): text`."""
    entries: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if line and line[0] != " ":
            head, _, text = line.partition(":")
            # NumPy's style has the type behind the colon; annotations have it already.
            is_numpy = head.endswith(" ") or not _
            names = [name.strip().lstrip("*") for name in head.partition("(")[0].split(",")]
            entries |= {name: [] if is_numpy else [text.strip()] for name in names}
        else:
            for name in names:
                entries[name].append(line.strip())
    return {name: "\n".join(text).strip() for name, text in entries.items()}
