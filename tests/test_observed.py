"""A test fails that calls an operator whose infer tells something else than the call comes to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each test of lies.py, and what is said of it where it fails.
OUTCOMES = {
    "test_honest": None,
    "test_another_shape": r"_npi\.of_lies\(int8\(4,\)\) came to float32\(2,3,\)\n"
    r".* infer tells float32\(3,2,\)",
    "test_another_type": r"_npi\.of_lies\(int\) came to float32\(2,3,\)\n"
    r".* infer tells int8\(2,3,\)",
    "test_an_error_that_is_not_told": r"_npi\.of_lies\(int\) came to ValueError: .*it rejects all\n"
    r".* infer tells no error",
    "test_another_thread": r"_npi\.of_lies\(int\) came to float32\(2,3,\)\n"
    r".* infer tells float32\(5,\)",
    "test_unobserved": None,
}


def test_a_lie_fails_the_test_that_it_is_told_in() -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=short"]
    done = subprocess.run(
        [*command, "tests/lies.py"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    # What is said of each test that fails stands below its name.
    _, *said = re.split(
        r"^_+ (test_\w+) _+$", done.stdout.split(" short test summary ")[0], flags=re.M
    )
    failures = dict(zip(said[::2], said[1::2], strict=True))
    passed = re.findall(r"^PASSED tests/lies\.py::(\w+)", done.stdout, flags=re.M)
    assert {*passed, *failures} == OUTCOMES.keys(), done.stdout + done.stderr
    for name, text in OUTCOMES.items():
        if text is None:
            assert name in passed, failures[name]
        else:
            assert re.search(text, failures[name]), failures[name]
