"""The differential fuzzer: it finds nothing in mx.np, and what is planted."""

import numpy as np
import pytest

import mx
from tests.fuzz.differential.__main__ import Campaign
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
    assert len(shrink(program, library, difference.signature)) == 3
    assert run(program, mx.np) is None
