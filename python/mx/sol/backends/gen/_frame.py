"""The loops over a row of elements, with elementwise nodes in front of and behind what needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ....graph.lowering._value import Declined
from ._algebra import Algebra, Scalar, Vector
from ._body import Piece, block, loop, row_indices, store
from ._domain import Domain, domain_of, in_parts
from ._group import Expressions, GroupNode, Leaf
from ._kernel import Spec
from ._leaves import Sources, sources_of
from ._table import Known
from ._target import Target
from ._types import type_of

# Names, positions and shapes of inputs.
Extras = Sequence[tuple[str, int, tuple[int, ...]]]
# Gets the expression of an element or vector; how many of its lanes count if not all; and in which
# of several accumulators it goes.
Use = Callable[[str, str | None, int], list[str]]


class Frame:
    """A group with one operator over rows of `x`, which goes over `axes`.

    Rows are gone through in passes: `first`, `again`, `last`. The operator's other inputs are
    `extra`, as leaves that are broadcast to the shape of x.
    """

    def __init__(
        self,
        target: Target,
        inputs: Sequence[Spec],
        nodes: Sequence[GroupNode],
        outputs: Sequence[int],
        known: Known | None,
        index: int,
        axes: Sequence[int],
        extra: Extras,
        keeps: bool = False,
        columns: Sequence[int] = (),
    ) -> None:
        """`extra` are the names, positions and shapes of the operator's other inputs; with `keeps`
        there is memory for what `again_keeping` makes of a row. `columns` are the last axes where
        rows are gone through side by side."""
        self._inputs, self._outputs, self._index = list(inputs), list(outputs), index
        self._count = len(inputs)
        self._front = Expressions(inputs, nodes[:index], known)
        main = nodes[index].inputs[0]
        if main is None or (index > 0 and main != self._count + index - 1):
            raise Declined("nodes in front that give no row")
        self._main = main
        self.x = self._front.output(main)
        behind = [self._renumbered(node) for node in nodes[index + 1 :]]
        self._behind = Expressions([*inputs, self.x, self.x], behind, known)
        self.is_vector = (
            self.x.dtype == "float32"
            and all(group.is_vector or not group.nodes for group in (self._front, self._behind))
            and all(inputs[position].dtype == "float32" for _, position, _ in extra)
        )
        self._front.is_vector = self._behind.is_vector = self.is_vector
        self.lanes = target.lanes if self.is_vector else 1
        self.extra: dict[str, Leaf] = {}
        for name, position, shape in extra:
            self.extra[name] = Leaf(position, shape, inputs[position].dtype)
        self._lay_out(axes, keeps, columns)

    def _lay_out(self, axes: Sequence[int], keeps: bool, columns: Sequence[int]) -> None:
        whole = self.x.shape
        front, behind = self._front.leaves.values(), self._behind.leaves.values()
        given = [leaf for leaf in behind if leaf.position < self._count]
        if any(leaf.shape != whole for leaf in behind if leaf.position >= self._count):
            raise Declined("a row that is broadcast")
        plain = Leaf(self._main, whole, self.x.dtype)  # x where it is an input
        leaves = list(dict.fromkeys([*front, *given, *self.extra.values(), plain]))
        for number in self._outputs:
            if self.spec(number).shape != whole:
                raise Declined("an output of another shape than the rows")
        shapes = [leaf.shape for leaf in leaves] + [whole]
        rest = [axis for axis in range(len(whole)) if axis not in (*axes, *columns)]
        outer = domain_of(whole, shapes, rest)
        inner = domain_of(whole, shapes, axes)
        if columns:
            side = domain_of(whole, shapes, columns)
            if len(side.shape) > 1:
                raise Declined("axes that cannot be gone through as one")
            outer, side = in_parts(outer, side)
            inner = Domain(
                (*inner.shape, *side.shape),
                tuple((*a, *b) for a, b in zip(inner.strides, side.strides, strict=True)),
            )
        self.rows = outer.rows * outer.columns
        self.columns = inner.columns * inner.rows
        self.width = inner.columns
        # With a last axis of its own, rows are numbered by all the others.
        self._outer = Domain((*outer.shape, 1), tuple((*own, 0) for own in outer.strides))
        self._inner = inner
        strides = {
            leaf: (outer.strides[number], inner.strides[number])
            for number, leaf in enumerate(leaves)
        }
        self._own = (outer.strides[-1], inner.strides[-1])
        reads_front = list(front) if self._front.nodes else [plain]
        self._reading = sources_of(reads_front, strides, self.is_vector, "p")
        self._plain = plain
        written = list(dict.fromkeys([*given, *self.extra.values()]))
        self._writing = sources_of(written, strides, self.is_vector, "r")
        self._keeps = bool(self._front.nodes)
        self.value = type_of(self.x.dtype).value
        bytes_each = 4 if self.value == "float" else 8
        self.workspace = self.columns * bytes_each if self._keeps or keeps else 0

    def spec(self, number: int) -> Spec:
        """The spec of a value of the whole group."""
        main = self._count + self._index
        if number < main:
            return self._front.output(number)
        if number == main:
            return self.x
        return self._behind.output(self._count + 2 + number - main - 1)

    def _renumbered(self, node: GroupNode) -> GroupNode:
        """A node behind the operator, whose values follow the inputs, its result and x."""
        main = self._count + self._index

        def change(number: int | None) -> int | None:
            if number is None or number < self._count:
                return number
            if number == self._main:
                return self._count + 1
            if number < main:
                raise Declined("a value in front of a row that is read behind it")
            return self._count if number == main else self._count + 1 + number - main

        return replace(node, inputs=tuple(change(number) for number in node.inputs))

    # -- what passes are written with --

    @property
    def algebra(self) -> Algebra:
        """Expressions of the elements of a row."""
        return Vector("float32") if self.is_vector else Scalar(self._wide)

    @property
    def _wide(self) -> str:
        return "float32" if self.value == "float" else self.x.dtype

    @property
    def kind(self) -> str:
        """The C type of an element or vector."""
        return "vf" if self.is_vector else self.value

    def all_lanes(self, text: str) -> str:
        """A single value in all lanes."""
        return f"vf_set1({text})" if self.is_vector else text

    def one(self, name: str, text: str) -> str:
        """The sum, maximum or minimum of the lanes: name is hsum, hmax, hmin or hprod."""
        return f"vf_{name}({text})" if self.is_vector else text

    def accumulators(self, name: str, neutral: float) -> list[str]:
        """Declares them: name0, name1, ..."""
        start = self.algebra.number(neutral)
        return [f"{self.kind} {name}{copy} = {start};" for copy in range(self.unroll)]

    def joined(self, name: str, join: Callable[[str, str], str]) -> str:
        """All accumulators in one."""
        text = f"{name}0"
        for copy in range(1, self.unroll):
            text = join(text, f"{name}{copy}")
        return text

    @property
    def unroll(self) -> int:
        """How many vectors of a row are done at a time."""
        whole = self._inner.columns // self.lanes
        return 1 if self.lanes == 1 else max(1, min(4, whole))

    def counted(self, text: str, rest: str | None, neutral: float) -> str:
        """The expression, with another value in lanes that do not count."""
        if rest is None or not self.is_vector:
            return text
        return f"vf_select(vi_first({rest}), {text}, {self.algebra.number(neutral)})"

    def number(self, value: float) -> str:
        """A single constant."""
        return Scalar(self._wide).number(value)

    def single(self, name: str, text: str) -> str:
        """A function of C of a single value."""
        return Scalar(self._wide).function(name, text)

    # -- passes --

    def begin(self) -> list[str]:
        """What a row begins with."""
        lines = row_indices(self._outer)
        lines += self._reading.pointers() + self._writing.pointers()
        if self.workspace:
            # Rows that are joined side by side do without.
            lines += [f"{self.value} *const kept = ({self.value} *)work;", "(void)kept;"]
        for number, output in enumerate(self._outputs):
            kind = type_of(self.spec(output).dtype).memory
            terms = [f"x{axis} * {step}" for axis, step in enumerate(self._own[0]) if step]
            offset = " + ".join(terms) or "0"
            lines.append(f"{kind} *const q{number} = ({kind} *)out[{number}] + {offset};")
        return lines

    def first(self, use: Use, unroll: int = 1) -> list[str]:
        """The pass that reads what the group is given."""

        def piece(index: str, rest: str | None, copy: int) -> list[str]:
            lines, x = self._computed(index, rest)
            if self._keeps:
                lines.append(self._keep(x, index, rest))
            return lines + use(x, rest, copy)

        return self._segments([self._reading], piece, unroll)

    def beside(self, use: Callable[[str, str, str | None], list[str]]) -> list[str]:
        """A pass that reads rows side by side; `use` gets the index among them, too."""

        def piece(index: str, rest: str | None, _: int) -> list[str]:
            lines, x = self._computed(index, rest)
            return lines + use(x, index, rest)

        return self._segments([self._reading], piece, 1)

    def again(self, use: Use, unroll: int = 1) -> list[str]:
        """A pass over the same elements."""

        def piece(index: str, rest: str | None, copy: int) -> list[str]:
            lines, x = self._found(index, rest)
            return lines + use(x, rest, copy)

        return self._segments([] if self._keeps else [self._reading], piece, unroll)

    def again_keeping(self, made: Callable[[str], str], use: Use, unroll: int = 1) -> list[str]:
        """A pass that makes another element of each; those are what later passes find."""
        if self._main in self._outputs or any(
            leaf.position == self._count + 1 for leaf in self._behind.leaves.values()
        ):
            raise Declined("a value in front of a row that is read behind it")

        def piece(index: str, rest: str | None, copy: int) -> list[str]:
            lines, x = self._found(index, rest)
            lines += [f"const {self.kind} z = {made(x)};", self._keep("z", index, rest)]
            return lines + use("z", rest, copy)

        lines = self._segments([] if self._keeps else [self._reading], piece, unroll)
        self._keeps = True
        return lines

    def last(self, result: Callable[[str, dict[str, str]], str]) -> list[str]:
        """The pass that writes. `result` gives an element of x and of the extra inputs by name."""

        def piece(index: str, rest: str | None, _: int) -> list[str]:
            lines, x = self._found(index, rest)
            more, loaded = self._writing.loads("y", index, rest)
            given = {**self._current, **loaded}
            extra = {name: given[leaf] for name, leaf in self.extra.items()}
            lines += [*more, f"const {self.kind} y = {self._rounded(result(x, extra))};"]
            given.update(
                (leaf, "y" if leaf.position == self._count else x)
                for leaf in self._behind.leaves.values()
                if leaf.position >= self._count
            )
            computed, names = self._behind.lines(given, "b")
            lines += computed
            for number, output in enumerate(self._outputs):
                lines.append(self._written(number, output, names, x, index, rest))
            return lines

        read = [] if self._keeps else [self._reading]
        return self._segments([*read, self._writing], piece, 1)

    def _rounded(self, text: str) -> str:
        return text if self.is_vector else type_of(self.x.dtype).rounded(text)

    def _written(
        self, number: int, output: int, names: dict[int, str], x: str, index: str, rest: str | None
    ) -> str:
        main = self._count + self._index
        if output == main:
            name = "y"
        elif output == self._main:
            name = x
        elif output < main:
            raise Declined("an output in front of a row that is not the row")
        else:
            name = names[self._count + 2 + output - main - 1]
        terms = [f"y{a} * {step}" for a, step in enumerate(self._own[1][:-1]) if step]
        pointer = f"({' + '.join([f'q{number}', *terms])})" if terms else f"q{number}"
        return store(self.is_vector, self.spec(output).dtype, pointer, index, rest, name)

    def _computed(self, index: str, rest: str | None) -> tuple[list[str], str]:
        lines, loaded = self._reading.loads("y", index, rest)
        given = {**self._current, **loaded}
        if not self._keeps:
            return lines, given[self._plain]
        computed, names = self._front.lines(given, "f")
        return lines + computed, names[self._main]

    def _found(self, index: str, rest: str | None) -> tuple[list[str], str]:
        if not self._keeps:
            return self._computed(index, rest)
        at = f"kept + {self._part} + {index}" if self._part else f"kept + {index}"
        if not self.is_vector:
            return [f"const {self.value} x = *({at});"], "x"
        value = f"vf_load({at})" if rest is None else f"vf_load_n({at}, {rest})"
        return [f"const vf x = {value};"], "x"

    def _keep(self, x: str, index: str, rest: str | None) -> str:
        at = f"kept + {self._part} + {index}" if self._part else f"kept + {index}"
        if not self.is_vector:
            return f"*({at}) = {x};"
        return f"vf_store({at}, {x});" if rest is None else f"vf_store_n({at}, {x}, {rest});"

    def _segments(self, sources: Sequence[Sources], piece: Piece, unroll: int) -> list[str]:
        """A loop over the last axis, within loops over the other axes of a row."""
        outer = self._inner.shape[:-1]
        self._part = f"part * {self._inner.columns}" if outer else ""
        lines: list[str] = []
        if outer:
            lines += [line.replace("x", "y") for line in row_indices(self._inner, "part")]
        self._current: dict[Leaf, str] = {}
        for one in sources:
            splats, names = one.splats("y")
            lines += splats
            self._current.update(names)
        lines += loop(self._inner.columns, self.lanes, piece, unroll)
        if not outer:
            return [block("", lines).lstrip()]
        return [block(f"for (int64_t part = 0; part < {self._inner.rows}; ++part)", lines)]
