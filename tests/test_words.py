"""One word for one thing: no file uses a word that the glossary of CONTRIBUTING.md replaces."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = {".c", ".cc", ".cmake", ".cpp", ".cu", ".h", ".inc", ".json", ".md", ".mk", ".pxi", ".py"}
TEXT |= {".pyi", ".pyx", ".toml", ".txt", ".yml"}

# Names that others chose, and places where a word has another meaning: path, then the phrase.
EXCEPTIONS = {
    "CONTRIBUTING.md": r"^\|.*\|$",  # the glossary itself
    "tests/test_words.py": r".*",
    "docs/porting.md": r"geometry",  # an example's module, which computes norms of vectors
    "tests/sol/gradient/cases_sampling.py": r"F\.fold",  # torch's, of patches put together
}
# Phrases of the language that have no other word.
PHRASES = r"(?<![a-zA-Z])[iI]n[-_ ]place(?![a-z])|IN_PLACE|InPlace"
PHRASES += r"|in the last place|[sS]tandard deviation"


def words_to_avoid() -> set[str]:
    """The third column of the glossary."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split("## Glossary")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {word for row in rows[2:] for word in re.findall(r"`([^`]+)`", row[2])}


def words_of(text: str) -> set[str]:
    """The words of a line, those that identifiers are made of among them, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    return [ROOT / path for path in listed if Path(path).suffix in TEXT or "Makefile" in path]


def found(path: Path, avoided: set[str]) -> list[str]:
    name = str(path.relative_to(ROOT))
    exception = re.compile(f"{EXCEPTIONS.get(name, '(?!)')}|{PHRASES}")
    lines = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        rest = exception.sub(" ", line)
        wrong = (words_of(rest) & avoided) | {
            phrase for phrase in avoided if " " in phrase and phrase in rest.lower()
        }
        lines += [f"{name}:{number}: {word}" for word in sorted(wrong)]
    return lines


def test_the_glossary_is_read() -> None:
    assert {"geometry", "refuse", "carry out"} <= words_to_avoid()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asks git for the files")
def test_words_of_files() -> None:
    avoided = words_to_avoid()
    lines = [line for path in sources() if path.exists() for line in found(path, avoided)]
    assert not lines, "\n".join(lines)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asks git for the files")
def test_words_of_file_names() -> None:
    avoided = words_to_avoid()
    assert not [path for path in sources() if words_of(path.stem) & avoided]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("GeometryOf(x)", ["geometry"]),
        ("a folder of files", []),
        ("x is folded", ["folded"]),
        ("sorts in place", []),
        ("kMXAccInPlace", []),
        ("at another place", ["place"]),
        ("does not carry out", ["carry out"]),
    ],
)
def test_what_is_found(tmp_path: Path, line: str, wrong: list[str]) -> None:
    path = ROOT / "tests" / "not_there.md"

    class Fake:
        def relative_to(self, root: Path) -> Path:
            return path.relative_to(root)

        def read_text(self) -> str:
            return line

    assert [one.split(": ")[1] for one in found(Fake(), words_to_avoid())] == wrong
