"""Any sequence of operations on List and Dict leaves, returns and raises what Python's own do."""

import copy
import pickle

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import ffi

NUMBERS = st.integers(-3, 3) | st.sampled_from([2**63 - 1, 2**63, -(2**63), 0.0, -0.0, 1.0, 2.5])
# Equal ones are frequent, and of several types.
HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.sampled_from(
        [1j, 1 + 0j, "", "a", "b\0", "é🙂", b"", b"a", (), (1, 2), (1.0, True), ("a",)]
    ),
)
KEYS = HASHABLE | st.sampled_from(["\ud800", 2**70, (2**70,), float("inf")])
STORED_KEYS = HASHABLE | st.integers(0, 40)
UNHASHABLE = st.sampled_from([[], {}, set(), ([],)])
INDICES = st.integers(-7, 7)
WRONG_INDICES = st.sampled_from(["a", 1.0, None, 2**80, -(2**80), True])


def exact(value):
    """With types all the way down, where 1 == True == 1.0."""
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [exact(item) for item in value]
    return type(value).__name__, repr(value)


class Machine(RuleBasedStateMachine):
    """Does everything to two containers and compares what comes of it."""

    kind: type
    plain: type

    def both(self, action):
        outcomes = []
        for container in (self.given, self.model):
            try:
                result = action(container)
            except Exception as error:
                outcomes.append(("raised", type(error)))
            else:
                if isinstance(result, self.kind):
                    result = self.as_plain(result)
                outcomes.append(("returned", exact(self.as_items(result))))
        assert outcomes[0] == outcomes[1]

    @staticmethod
    def as_items(result):
        return list(result.items()) if isinstance(result, dict) else result

    @rule()
    def copied(self):
        for again in (
            copy.copy(self.given),
            copy.deepcopy(self.given),
            pickle.loads(pickle.dumps(self.given)),
            self.given.copy(),
        ):
            assert type(again) is self.kind and again is not self.given
            assert exact(self.as_items(self.as_plain(again))) == exact(self.as_items(self.model))

    @rule()
    def clear(self):
        self.both(lambda x: x.clear())

    @invariant()
    def same(self):
        assert len(self.given) == len(self.model) and bool(self.given) == bool(self.model)
        left = self.as_items(self.as_plain(self.given))
        assert exact(left) == exact(self.as_items(self.model))
        assert self.given == self.model and not self.given != self.model
        assert repr(self.given) == f"ffi.{self.kind.__name__}({self.model!r})"


class ListMachine(Machine):
    kind, plain = ffi.List, list

    @staticmethod
    def as_plain(container):
        return list(container)

    @initialize(items=st.lists(HASHABLE, max_size=6))
    def make(self, items):
        self.given, self.model = ffi.List(items), list(items)

    @rule(value=HASHABLE)
    def append(self, value):
        self.both(lambda x: x.append(value))

    @rule(index=INDICES | WRONG_INDICES, value=HASHABLE)
    def insert(self, index, value):
        # A list takes no index beyond the machine's own integers.
        if not isinstance(index, int) or abs(index) < 2**63:
            self.both(lambda x: x.insert(index, value))

    @rule(values=st.lists(HASHABLE, max_size=4))
    def extend(self, values):
        self.both(lambda x: x.extend(values))
        self.both(lambda x: x.__iadd__(values))

    @rule()
    def extend_by_itself(self):
        if len(self.model) < 50:
            self.both(lambda x: x.extend(x))

    @rule(index=INDICES | st.sampled_from(["a", 1.0]))
    def pop(self, index):
        self.both(lambda x: x.pop(index))

    @rule(value=HASHABLE)
    def remove(self, value):
        self.both(lambda x: x.remove(value))

    @rule(value=HASHABLE | KEYS, start=INDICES, stop=INDICES)
    def search(self, value, start, stop):
        self.both(lambda x: x.index(value))
        self.both(lambda x: x.index(value, start, stop))
        self.both(lambda x: (x.count(value), value in x))

    @rule(index=INDICES | WRONG_INDICES, value=HASHABLE)
    def item(self, index, value):
        self.both(lambda x: x[index])
        self.both(lambda x: x.__setitem__(index, value))

    @rule(index=INDICES | WRONG_INDICES)
    def delete(self, index):
        self.both(lambda x: x.__delitem__(index))

    @rule(cut=st.slices(8), values=st.lists(HASHABLE, max_size=4))
    def cut(self, cut, values):
        self.both(lambda x: x[cut])
        self.both(lambda x: x.__setitem__(cut, values))

    @rule(cut=st.slices(8))
    def delete_slice(self, cut):
        self.both(lambda x: x.__delitem__(cut))

    @rule(cut=st.slices(8))
    def assign_itself(self, cut):
        self.both(lambda x: x.__setitem__(cut, x))

    @rule(values=st.lists(HASHABLE, max_size=3))
    def add(self, values):
        self.both(lambda x: x + values)

    @rule()
    def order(self):
        self.both(lambda x: x.reverse())
        self.both(lambda x: list(reversed(x)))
        # list.sort leaves anything where elements cannot be compared.
        self.both(lambda x: type(x)(x).sort())

    @rule(reverse=st.booleans())
    def sort(self, reverse):
        self.both(lambda x: x.sort(key=lambda item: (type(item).__name__, repr(item)),
                                   reverse=reverse))  # fmt: skip

    @rule(steps=st.integers(0, 5), value=HASHABLE)
    def iterate_and_change(self, steps, value):
        def walk(x):
            seen = []
            for item in x:
                seen.append(item)
                if len(seen) == steps:
                    x.insert(0, value)
                if len(seen) == steps + 2:
                    del x[-1]
                if len(seen) > 60:
                    break
            return seen

        self.both(walk)


class DictMachine(Machine):
    kind, plain = ffi.Dict, dict

    @staticmethod
    def as_plain(container):
        return dict(container.items())

    @initialize(entries=st.dictionaries(STORED_KEYS, HASHABLE, max_size=6))
    def make(self, entries):
        self.given, self.model = ffi.Dict(entries), dict(entries)

    @rule(key=STORED_KEYS | UNHASHABLE, value=HASHABLE)
    def set_item(self, key, value):
        self.both(lambda x: x.__setitem__(key, value))

    @rule(key=KEYS | STORED_KEYS | UNHASHABLE)
    def look_up(self, key):
        self.both(lambda x: x[key])
        self.both(lambda x: x.get(key))
        self.both(lambda x: x.get(key, "default"))
        self.both(lambda x: key in x)

    @rule(key=KEYS | STORED_KEYS | UNHASHABLE)
    def delete(self, key):
        self.both(lambda x: x.__delitem__(key))

    @rule(data=st.data())
    def delete_one_of_it(self, data):
        if self.model:
            key = data.draw(st.sampled_from(list(self.model)))
            self.both(lambda x: x.__delitem__(key))

    # An empty dict does not hash what is popped.
    @rule(key=KEYS | STORED_KEYS, default=HASHABLE)
    def pop(self, key, default):
        self.both(lambda x: x.pop(key, default))
        self.both(lambda x: x.pop(key))

    @rule()
    def pop_item(self):
        self.both(lambda x: x.popitem())

    @rule(key=STORED_KEYS | UNHASHABLE, default=HASHABLE)
    def set_default(self, key, default):
        self.both(lambda x: x.setdefault(key, default))

    @rule(entries=st.dictionaries(STORED_KEYS, HASHABLE, max_size=30))
    def update(self, entries):
        self.both(lambda x: x.update(entries))

    @rule(entries=st.dictionaries(STORED_KEYS, HASHABLE, max_size=3))
    def update_by_pairs(self, entries):
        self.both(lambda x: x.update(list(entries.items()), more=1))

    @rule(key=STORED_KEYS, keys=st.sets(STORED_KEYS, max_size=4))
    def views(self, key, keys):
        self.both(lambda x: list(x))
        self.both(lambda x: (list(x.keys()), list(x.values()), list(x.items())))
        self.both(lambda x: (key in x.keys(), key in x.values(), (key, 1) in x.items()))
        self.both(lambda x: sorted(map(hash, x.keys() & keys)))

    @rule(steps=st.integers(1, 4), key=STORED_KEYS)
    def change_while_iterating(self, steps, key):
        def walk(x):
            seen = []
            for found in x.items():
                seen.append(found)
                if len(seen) == steps:
                    x[key] = "changed"
            return seen

        self.both(walk)


TestList = ListMachine.TestCase
TestDict = DictMachine.TestCase
TestList.settings = TestDict.settings = settings(stateful_step_count=20)
