"""Classes that C++ registers, as Python sees them."""

import copy
import gc
import inspect
import pickle
import pydoc
import weakref

import pytest

import ffi

Counter = ffi.get_class("testing.Counter")
NamedCounter = ffi.get_class("testing.NamedCounter")
Node = ffi.get_class("testing.Node")
Account = ffi.get_class("testing.Account")
count_on = ffi.get_global_func("testing.count_on")
make_hidden = ffi.get_global_func("testing.hidden")


class Mine(Counter):
    """What a user derives: another __init__, attributes, methods."""

    def __init__(self, start):
        super().__init__(start, "mine")
        self.extra = [start]

    def twice(self):
        return 2 * self.value


def test_a_class_is_one_class():
    assert ffi.get_class("testing.Counter") is Counter
    assert issubclass(Counter, ffi.Object) and issubclass(NamedCounter, Counter)
    assert (Counter.__name__, Counter.__module__) == ("Counter", "testing")
    assert type(ffi.get_class("testing.Counter").of([1, 2])) is Counter


def test_keys():
    keys = ffi.get_global_func("ffi.ClassKeys")()
    assert {"testing.Counter", "testing.NamedCounter", "testing.Node"} <= set(keys)


@pytest.mark.parametrize(
    ("args", "kwargs", "shown"),
    [
        ((), {}, "Counter(value=0, name='counter', step=0.5, active=True, is_positive=False)"),
        ((3,), {}, "Counter(value=3, name='counter', step=0.5, active=True, is_positive=True)"),
        ((3, "é"), {}, "Counter(value=3, name='é', step=0.5, active=True, is_positive=True)"),
        ((), {"name": ""}, "Counter(value=0, name='', step=0.5, active=True, is_positive=False)"),
    ],
)
def test_init_and_repr(args, kwargs, shown):
    assert repr(Counter(*args, **kwargs)) == shown


@pytest.mark.parametrize(
    ("cls", "shown"),
    [
        (Node, "Node(value=1, next=None)"),
        (Account, "<account>"),
        (
            lambda value: Mine(value),
            "Mine(value=1, name='mine', step=0.5, active=True, is_positive=True)",
        ),
        (lambda value: Counter.__new__(Counter), "<Counter that holds no object>"),
    ],
)
def test_repr(cls, shown):
    assert repr(cls(1)) == shown


def test_repr_of_what_contains_itself():
    node = Node(1)
    node.next = node
    assert repr(node) == "Node(value=1, next=...)"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("value", 5, 5),
        ("value", True, 1),
        ("value", -(2**63), -(2**63)),
        ("name", "", ""),
        ("name", "nul \0 and é", "nul \0 and é"),
        ("step", 2, 2.0),
        ("step", float("inf"), float("inf")),
        ("active", False, False),
    ],
)
def test_fields(name, value, expected):
    counter = Counter()
    setattr(counter, name, value)
    found = getattr(counter, name)
    assert found == expected and type(found) is type(expected)


REJECTIONS = {
    "type": (lambda c: setattr(c, "value", "x"), TypeError,
             "testing.Counter.value expected int, got str"),
    "range": (lambda c: setattr(c, "value", 2**63), OverflowError, "testing.Counter.value"),
    "large": (lambda c: setattr(c, "value", 2**70), OverflowError,
              "testing.Counter.value expected an integer from"),
    "unsupported": (lambda c: setattr(c, "value", object()), TypeError,
                    "testing.Counter.value has unsupported type object"),
    "surrogate": (lambda c: setattr(c, "name", "\ud800"), UnicodeEncodeError,
                  "surrogates not allowed in testing.Counter.name"),
    "read-only": (lambda c: setattr(c, "is_positive", 1), AttributeError,
                  "testing.Counter.is_positive is read-only"),
    "delete": (lambda c: delattr(c, "value"), AttributeError,
               "testing.Counter.value cannot be deleted"),
    "other attribute": (lambda c: setattr(c, "other", 1), AttributeError, "other"),
    "foreign instance": (lambda c: Counter.value.__get__(3), TypeError,
                         "testing.Counter.value: expected testing.Counter, got int"),
    "foreign object": (lambda c: Counter.value.__get__(ffi.Array([])), TypeError,
                       "testing.Counter.value: expected testing.Counter, got Array"),
    "foreign class": (lambda c: Counter.value.__get__(Node(1)), TypeError,
                      "testing.Counter.value: expected testing.Counter, got testing.Node"),
    "base of the field's": (lambda c: NamedCounter.tag.__get__(c), TypeError,
                            "expected testing.NamedCounter, got testing.Counter"),
    "empty": (lambda c: Counter.__new__(Counter).value, ValueError, "holds no object"),
    "empty, set": (lambda c: setattr(Counter.__new__(Counter), "value", 1), ValueError,
                   "holds no object"),
    "empty, method": (lambda c: Counter.__new__(Counter).add(), ValueError, "holds no object"),
    "argument": (lambda c: c.add("x"), TypeError,
                 "testing.Counter.add: argument 0 ('by') expected int, got str"),
    "count": (lambda c: c.add(1, 2), TypeError, "testing.Counter.add: expected 0 to 1 arguments"),
    "method of another": (lambda c: Counter.add(Node(1)), TypeError,
                          "argument ('self') expected testing.Counter, got testing.Node"),
    "order": (lambda c: c < 3, TypeError, "'<' not supported"),
    "init": (lambda c: Counter("x"), TypeError,
             "testing.Counter.__init__: argument 0 ('start') expected int, got str"),
    "keyword": (lambda c: Counter(stop=1), TypeError, "unexpected keyword argument 'stop'"),
    "by name only": (lambda c: Account(1.0).deposit(2.0, 1.0), TypeError,
                     "testing.Account.deposit: "),
    "made by C++ only": (lambda c: type(make_hidden())(), TypeError, "made by C++ only"),
    "C++ fails": (lambda c: Account(1.0).pay(2.0), ValueError, "the balance is 1"),
    "no class": (lambda c: ffi.get_class("testing.None"), KeyError,
                 "no class is registered as 'testing.None'"),
    "no key": (lambda c: ffi.get_class(3), TypeError, "get_class: argument 0 ('key')"),
    "key with NUL": (lambda c: ffi.get_class("a\0b"), ValueError, "contains a NUL character"),
    "register an unknown key": (lambda c: ffi.register_class("testing.None"), KeyError,
                                "testing.None"),
    "register another base": (lambda c: ffi.register_class("testing.NamedCounter")(Node),
                              TypeError, "expected a class derived from Counter"),
    "pickle hidden state": (lambda c: pickle.dumps(make_hidden()), TypeError,
                            "cannot pickle 'Hidden' object"),
    "pickle a field": (lambda c: pickle.dumps(Counter.value), TypeError, "cannot pickle"),
    "make a field": (lambda c: type(Counter.value)(), TypeError, "comes from the description"),
}  # fmt: skip


@pytest.mark.parametrize(("action", "cls", "text"), REJECTIONS.values(), ids=REJECTIONS.keys())
def test_rejections(action, cls, text):
    counter = Counter(1)
    with pytest.raises(cls) as caught:
        action(counter)
    assert text in str(caught.value)
    assert counter == Counter(1)


def test_methods():
    counter = Counter(1)
    assert counter.add() == 2 and counter.add(by=3) == 5
    assert counter.add_all(1, 2, 3) == 11 == Counter.add_all(counter)
    assert Counter.of([7, 8]) == Counter(2, "of") == counter.of([7, 8])
    assert len(Account(3.5)) == 3
    bound = counter.add
    del counter
    assert bound() == 12


@pytest.mark.parametrize(
    ("kwargs", "note", "balance"),
    [({}, "deposit", 2.5), ({"fee": 0}, "deposit", 3.0), ({"note": "é", "fee": 1}, "é", 2.0)],
)
def test_parameters_by_name_only(kwargs, note, balance):
    account = Account(1.0)
    assert account.deposit(2, **kwargs) == note
    assert account.balance == balance
    shown = str(inspect.signature(Account.deposit))
    assert "amount: float, *, fee: float = 0.5, note: str = 'deposit')" in shown


def test_comparisons():
    assert Counter(1) == Counter(1) and Counter(1) != Counter(2)
    assert Counter(1) != 1 and (Counter(1) == 1) is False
    assert hash(Counter(4)) == 4 and len({Counter(1), Counter(1)}) == 1
    assert sorted([Counter(2), Counter(1)])[0].value == 1
    assert Node(1) != Node(1) and len({Node(1), Node(1)}) == 2


def test_inheritance():
    counter = NamedCounter(5)
    assert isinstance(counter, Counter) and counter.add(2) == 7 and counter.tag == 7
    assert count_on(counter, Counter(0)).value == 10 and counter.value == 8
    assert counter == Counter(8, "named")
    counter.history = [1, 2]
    assert list(counter.history) == [1, 2]


def test_identity(echo, call):
    counter, mine = Counter(1), Mine(2)
    for made in (counter, mine, NamedCounter(3), Node(4)):
        assert echo(made) is made and call(lambda x: x, made) is made
        assert Node(made).value is made and echo([made])[0] is made
    assert count_on(counter, mine) is mine
    assert mine.extra == [2] and mine.twice() == 24


def test_a_field_keeps_an_object_alive():
    node = Node(1)
    gone = weakref.ref(node)
    holder = Node(None, node)
    del node
    gc.collect()
    assert gone() is None and holder.next.value == 1
    again = holder.next
    assert holder.next is again
    holder.next = None
    assert holder.next is None and again.value == 1


def test_init_again_replaces_the_object():
    counter = Counter(1)
    handle = counter.handle
    kept = Node(counter)
    counter.__init__(2)
    assert counter.value == 2 and counter.handle != handle
    assert kept.value.value == 1 and kept.value is not counter


def same(left, right):
    assert type(left) is type(right) and repr(left) == repr(right)
    assert getattr(left, "extra", None) == getattr(right, "extra", None)


MAKERS = {
    "fields": lambda: Counter(3, "three"),
    "derived": lambda: NamedCounter(4),
    "subclass": lambda: Mine(5),
    "nested": lambda: Node(Counter(1), Node("two")),
    "hooks": lambda: Account(2.5),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(
    pickle.dumps(x))], ids=["copy", "deepcopy", "pickle"])  # fmt: skip
def test_copies(make, again):
    made = make()
    copied = again(made)
    assert copied is not made and not copied.same_as(made)
    same(copied, made)


def test_copies_share_what_they_refer_to_or_not():
    node = Node(1, Node(2))
    assert copy.copy(node).next is node.next
    assert copy.deepcopy(node).next is not node.next
    node.next = node
    copied = copy.deepcopy(node)
    assert copied.next is copied and pickle.loads(pickle.dumps(node)).next is not node
    assert copy.copy(Mine(1)).extra == [1]


def test_description():
    assert str(inspect.signature(Counter)).startswith("(start: int = 0, name: str = 'counter')")
    assert list(inspect.signature(Counter(1).add).parameters) == ["by"]
    assert list(inspect.signature(Mine).parameters) == ["start"]
    assert Counter.value.__doc__ == "What it has come to." and Counter.value.type == "int"
    assert Counter.is_positive.read_only and not Counter.value.read_only
    assert repr(Counter.value) == "<ffi.Field testing.Counter.value>"
    text = pydoc.plain(pydoc.render_doc(Counter))
    for part in ("Counts.", "Where it begins.", "Counts on, and returns", "What it has come to."):
        assert part in text


REGISTER = """
import ffi

make = ffi.get_global_func("testing.hidden")
before = make()

@ffi.register_class("testing.Hidden")
class Hidden(ffi.Object):
    def hello(self):
        return "hello"

class Derived(Hidden):
    pass

assert make().hello() == "hello" and type(make()) is Hidden is ffi.get_class("testing.Hidden")
assert Hidden.__doc__ == "Made by C++ only." and not hasattr(before, "hello")

@ffi.register_class("testing.Counter")
class Counter(ffi.Object):
    '''Mine.'''

    def __init__(self, start):
        super().__init__(start, name="mine")

    def add(self, by):
        return self.value + by

counter = Counter(3)
assert (counter.name, counter.add(5), counter.value, Counter.__doc__) == ("mine", 8, 3, "Mine.")
assert isinstance(ffi.get_class("testing.NamedCounter")(1), Counter)
echo = ffi.get_global_func("ffi.echo")
assert echo(counter) is counter
"""


def test_register_class(run_python):
    ran = run_python(REGISTER)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "action",
    [
        lambda: Counter(1, "text").name,
        lambda: Counter(1).add(2),
        lambda: Counter(1) == Counter(2),
        lambda: Mine(1).extra,
        lambda: copy.copy(Counter(1)),
        lambda: pickle.loads(pickle.dumps(Counter(1))),
        lambda: Node([1, 2], Node(3)).next.value,
        lambda: setattr(Node(1), "value", [1, "two"]),
        lambda: Counter(1).__init__(2),
    ],
    ids=["init", "method", "compare", "subclass", "copy", "pickle", "nested", "set", "init again"],
)
def test_nothing_leaks(action, assert_flat):
    assert_flat(action)


def test_objects_at_exit(run_python):
    ran = run_python("kept = ffi.get_class('testing.Node')(ffi.get_class('testing.Counter')(1))")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Counter(1).add(from_=2),
            "unexpected keyword argument 'from_'; its parameters are by",
        ),
        (lambda: Counter(1).add(1, by=2), "argument 0 ('by') was given by position and by keyword"),
    ],
)
def test_keywords_of_methods(call, message):
    """The object is none of the arguments that are told."""
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == f"testing.Counter.add: {message}"
