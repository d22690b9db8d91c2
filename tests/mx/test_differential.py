"""The differential fuzzer: it finds nothing in mx.np, and what is planted."""

import numpy as np
import pytest

import mx
from tests.fuzz.differential.__main__ import main
from tests.fuzz.differential.campaign import Campaign
from tests.fuzz.differential.execute import run
from tests.fuzz.differential.shrink import shrink

# Programs make arrays on the CPU; `--accelerator` has a campaign of its own make them elsewhere.
pytestmark = pytest.mark.host_memory


class Changed:
    """mx.np with one function that is wrong."""

    def __init__(self, name, function):
        setattr(self, name, function)

    def __getattr__(self, name):
        return getattr(mx.np, name)


def test_random_programs_give_what_numpy_gives():
    campaign = Campaign(mx.np, seed=7)
    found = list(campaign.run(2000))
    assert not found, found[0]
    assert campaign.statements == 2000


PLANTS = {
    "value": ("flip", lambda a, axis=None: a),
    "dtype": ("stack", lambda arrays, axis=0: mx.np.stack(arrays, axis).astype("float64")),
    "shape": ("squeeze", lambda a: mx.np.asarray(a)),
    "error": ("sort", lambda a, axis=-1: [][1]),
    "view": ("transpose", lambda a, axes=None: mx.np.transpose(a, axes).copy()),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_difference_is_found_and_shrunk(plant):
    name, function = PLANTS[plant]
    campaign = Campaign(Changed(name, function), seed=1)
    text = next(campaign.run(10_000))
    body = text[text.index("def program") : text.index("    return")].splitlines()[1:]
    assert len([line for line in body if "asarray" not in line]) <= 4, text
    assert campaign.differences == 1


def test_the_script_runs(tmp_path, capsys):
    name, function = PLANTS["shape"]
    text = next(Campaign(Changed(name, function), seed=1).run(10_000))
    exec(compile(text, "script", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_a_write_through_an_alias_is_a_difference_of_the_other_array():
    zeros = 'v0 = np.zeros((2, 2), dtype="int8")'
    program = [zeros, "v1 = np.transpose(v0)", "v0[...] = 1", "v2 = v0 + 1"]
    library = Changed(*PLANTS["view"])
    difference = run(program, library)
    assert (difference.kind, difference.name) == ("value", "v1")
    assert np.array_equal(difference.expected, [[1, 1], [1, 1]])
    assert len(shrink(program, library, difference)) == 3
    assert run(program, mx.np) is None


def test_a_small_program_has_the_difference_that_the_large_one_had():
    def add(x, y):
        total = mx.np.add(x, y)
        total[total == 3] = 4
        total[total == 5] = np.nan
        return total

    program = [
        'v0 = np.array([1.0, 2.0, 3.0], dtype="float64")',
        "v1 = v0 + 1",
        "v2 = np.add(v0, 2)",
    ]
    library = Changed("add", add)
    difference = run(program, library)
    small = shrink(program, library, difference)
    assert run(small, library).character == difference.character
    assert "NaN, not a number" in difference.character


ENDS = """
import os
import mx

globals().update(vars(mx.np))

def sort(*arguments):
    os.abort()
"""


def test_a_program_that_ends_its_process_is_told(tmp_path, monkeypatch, capsys):
    (tmp_path / "ends.py").write_text(ENDS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert main(["--library=ends", "--statements=2000", "--most=1", "--processes=2"]) == 1
    said = capsys.readouterr().out
    assert "ended its process" in said and "exit status -6" in said
    assert "= np.sort(" in said.split("# program")[1]


def test_processes_share_the_programs(capsys):
    assert main(["--statements=600", "--seed=7", "--processes=2"]) == 0
    assert "600 statements" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        "v1 = v0 + numpy.array([1.5, 2.5], dtype='float16')",
        "v1 = numpy.array([1, 2], dtype='int8') - v0",
        "v1 = v0[numpy.array([0, 1], dtype='int32')]",
        "v0[numpy.array([True, False])] = numpy.array(3.5, dtype='float64')[()]",
        "v1 = np.cbrt(v2, out=v3)",
        "v1 = v4 + v4",
    ],
)
def test_arrays_of_other_makers_and_types(line):
    program = [
        "v0 = np.array([1.0, 2.0], dtype='float32')",
        "v2 = np.array([5, 7], dtype='int16')",
        "v3 = np.array([0, 0], dtype='complex128')",
        "v4 = np.array([0.5, -0.0], dtype='bfloat16')",
    ]
    assert run([*program, line], mx.np, known=()) is None


def test_the_sign_of_a_zero_counts():
    program = ['v0 = np.array([0.0], dtype="float32")', "v1 = np.negative(v0)"]
    library = Changed("negative", lambda a, out=None: mx.np.subtract(0.0, a))
    assert run(program, library).kind == "sign"
    assert run(program, mx.np) is None
