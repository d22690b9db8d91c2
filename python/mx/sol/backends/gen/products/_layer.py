"""Recurrent layers: all steps of a sequence in one kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._target import Target
from ._accumulate import Accumulation
from ._text import fill

# Bytes of gates of several steps, which are computed from the inputs at once.
CHUNK_BYTES = 1 << 19

# A vector of units: the state `h` and the cell `cs` follow from those `before`, of the last step.
CELLS = {
    "LSTM": """\
      const vf i = $f(vf_load(g + j)), o = $f(vf_load(g + $hp + j));
      const vf f = $f(vf_load(g + 2 * $hp + j)), n = $g(vf_load(g + 3 * $hp + j));
      const vf cell = f * vf_load(cs_before + j) + i * n;
      vf_store(cs + j, cell);
      vf_store(h + j, o * $h(cell));
""",
    "GRU": """\
      const vf z = $f(vf_load(g + j)), reset = $f(vf_load(g + $hp + j));
      const vf n = $g(vf_load(g + 2 * $hp + j) + reset * vf_load(hn + j));
      vf_store(h + j, n + z * (vf_load(h_before + j) - n));
""",
    "GRU_reset": """\
      const vf z = $f(vf_load(g + j)), n = $g(vf_load(g + 2 * $hp + j));
      vf_store(h + j, n + z * (vf_load(h_before + j) - n));
""",
    "RNN": """\
      vf_store(h + j, $f(vf_load(g + j)));
""",
}

RELU = f"MX_INLINE vf {NAME}_relu(vf a) {{ return vf_select(a < 0.0f, (vf){{0}}, a); }}"

_BODY = """\
$functions
$signature {
  float *const gates = work, *const h_all = gates + $gates_size;
  float *const c_all = h_all + $state_size, *const more = c_all + $state_size;
  (void)c_all, (void)more;
  for (int64_t d = begin; d < end; ++d) {
    const float *const w = (const float *)in[$w] + d * $w_size;
    const float *const r = (const float *)in[$r_at] + d * $r_size;
    const float *const bias = (const float *)in[$bias_at] + d * $bias_size;
    (void)r;
    memset(h_all, 0, $states_bytes);
$initial    for (int64_t t0 = 0; t0 < $steps; t0 += $chunk) {
      const int64_t count = $steps - t0 < $chunk ? $steps - t0 : $chunk;
      const int64_t from = ($is_reverse) ? $steps - t0 - count : t0;
      for (int64_t row = 0; row < count * $batch; ++row)
        memcpy(gates + row * $g_row, bias, $g_row * sizeof(float));
      ${NAME}_x((const float *)in[0] + from * $batch * $size, count * $batch, w, gates);
      for (int64_t s = 0; s < count; ++s) {
        const int64_t t = ($is_reverse) ? from + count - 1 - s : from + s;
        float *const now = gates + (t - from) * $batch * $g_row;
$step        for (int64_t b = 0; b < $batch; ++b) {
          float *const y = (float *)out[0] + ((t * $directions + d) * $batch + b) * $hidden;
          memcpy(y, h_all + b * $hp, $hidden * sizeof(float));
        }
      }
    }
    for (int64_t b = 0; b < $batch; ++b)
      memcpy((float *)out[1] + (d * $batch + b) * $hidden, h_all + b * $hp,
             $hidden * sizeof(float));
$last  }
}
"""

_CELL = """\
static void ${NAME}_cell(const float *g_all, float *h_all, float *c_all, const float *more) {
  (void)c_all, (void)more;
  for (int64_t b = 0; b < $batch; ++b) {
    const float *const g = g_all + b * $g_row, *const hn = more + b * $hp;
    float *const h = h_all + b * $hp, *const cs = c_all + b * $hp;
    const float *const h_before = h, *const cs_before = cs;
    (void)hn, (void)h_before, (void)cs_before;
    for (int64_t j = 0; j < $hp; j += VW) {
$cell    }
  }
}
"""

# What stands in front of the cell: the products with the last states.
_STEPS = {
    "LSTM": "        ${NAME}_h(h_all, $batch, r, now);\n",
    "RNN": "        ${NAME}_h(h_all, $batch, r, now);\n",
    "GRU": """\
        for (int64_t b = 0; b < $batch; ++b)
          memcpy(more + b * $hp, bias + $g_row, $hp * sizeof(float));
        ${NAME}_h(h_all, $batch, r, now);
        ${NAME}_n(h_all, $batch, r + $r_first, more);
""",
    "GRU_reset": """\
        ${NAME}_h(h_all, $batch, r, now);
        for (int64_t b = 0; b < $batch; ++b)
          for (int64_t j = 0; j < $hp; j += VW)
            vf_store(more + b * $hp + j, $f(vf_load(now + b * $g_row + $hp + j)) *
                                             vf_load(h_all + b * $hp + j));
        ${NAME}_n(more, $batch, r + $r_first, now + 2 * $hp);
""",
}

_STATE = """\
    for (int64_t b = 0; b < $batch; ++b)
      memcpy($to + b * $hp, $source + (d * $batch + b) * $hidden, $hidden * sizeof(float));
"""


class Layer:
    """What the parts of such a kernel's text share. `sizes`: steps, batch, features, hidden."""

    def __init__(
        self,
        target: Target,
        operator: str,
        sizes: tuple[int, int, int, int],
        direction: str,
        functions: Sequence[str],
        resets_after: bool,
        weights: tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray | None],
        initial: tuple[str | None, str | None],
        inputs: int,
        outputs: Sequence[Spec],
    ) -> None:
        self.target, self.operator, self.direction = target, operator, direction
        self.steps, self.batch, self.size, self.hidden = sizes
        self.functions, self.weights, self.initial = functions, weights, initial
        self.inputs, self.outputs = inputs, outputs
        self.kind = "GRU_reset" if operator == "GRU" and not resets_after else operator
        lanes = target.lanes
        self.padded = -(-self.hidden // lanes) * lanes
        self.gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
        self.row = self.gates * self.padded
        whole = 4 * max(1, self.batch) * self.row
        self.chunk = max(1, min(max(1, self.steps), CHUNK_BYTES // whole))
        rest = self.steps % self.chunk
        counts = [self.chunk * self.batch] + ([rest * self.batch] if rest else [])
        self.x_part = Accumulation(target, f"{NAME}_x", counts, self.size, self.row)
        first = 2 * self.padded if operator == "GRU" else self.row
        self.h_part = Accumulation(target, f"{NAME}_h", [self.batch], self.hidden, first)
        self.n_part = Accumulation(target, f"{NAME}_n", [self.batch], self.hidden, self.padded)

    def _columns(self, matrix: numpy.ndarray) -> numpy.ndarray:
        """Weights (gates * hidden, depth) as (depth, gates * padded)."""
        spread = numpy.zeros((self.gates, self.padded, matrix.shape[1]), numpy.float32)
        spread[:, : self.hidden] = matrix.reshape(self.gates, self.hidden, -1)
        flat: numpy.ndarray = spread.reshape(self.row, -1).T
        return flat

    def _constants(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Of all directions: weights of inputs, of states, and biases."""
        w, r, b = self.weights
        first = self.h_part.columns
        ws, rs, biases = [], [], []
        for d in range(w.shape[0]):
            ws.append(self.x_part.pack(self._columns(w[d])))
            columns = self._columns(r[d])
            rs.append(self.h_part.pack(columns[:, :first]))
            if self.operator == "GRU":
                rs.append(self.n_part.pack(columns[:, first:]))
            halves = (
                numpy.zeros((2, self.gates * self.hidden), numpy.float32)
                if b is None
                else b[d].reshape(2, -1)
            )
            of_x, of_h = (self._columns(half.reshape(-1, 1))[0] for half in halves)
            if self.kind == "GRU":  # what is added to the state's part is multiplied by r
                own = of_h[first:].copy()
                of_h = numpy.concatenate((of_h[:first], numpy.zeros_like(own)))
            else:
                own = numpy.zeros(self.padded, numpy.float32)
            biases.append(numpy.concatenate((of_x + of_h, own)))
        return tuple(  # type: ignore[return-value]
            numpy.concatenate(parts).astype(numpy.float32) for parts in (ws, rs, biases)
        )

    def called(self) -> dict[str, str]:
        """The activations f, g and h as functions of C."""
        calls = [f"{NAME}_relu" if name == "relu" else name for name in self.functions]
        return dict(zip("fgh", calls, strict=False))

    def kernel(self) -> GenKernel:
        """The kernel."""
        directions = self.weights[0].shape[0]
        names = self.called()
        w, r, bias = self._constants()
        common = {
            "NAME": NAME,
            "batch": self.batch,
            "hp": self.padded,
            "g_row": self.row,
            "hidden": self.hidden,
            "r_first": self.hidden * self.h_part.columns,
            **names,
        }
        functions = [
            RELU,
            self.x_part.source(self.size, self.row),
            self.h_part.source(self.padded, self.row),
        ]
        if self.operator == "GRU":
            to = self.padded if self.kind == "GRU" else self.row
            functions.append(self.n_part.source(self.padded, to))
        functions.append(fill(_CELL, cell=fill(CELLS[self.kind], **common), **common))
        step = fill(_STEPS[self.kind], **common)
        step += f"        {NAME}_cell(now, h_all, c_all, more);\n"
        state = self.batch * self.padded
        starts = [
            fill(_STATE, to=to, source=source, **common)
            for to, source in zip(("h_all", "c_all"), self.initial, strict=True)
            if source is not None
        ]
        last = ""
        if self.operator == "LSTM":
            last = fill(
                """\
    for (int64_t b = 0; b < $batch; ++b)
      memcpy((float *)out[2] + (d * $batch + b) * $hidden, c_all + b * $hp,
             $hidden * sizeof(float));
""",
                **common,
            )
        reverse = {"forward": "0", "reverse": "1"}.get(self.direction, "d == 1")
        gates_size = self.chunk * self.batch * self.row
        text = fill(
            _BODY,
            functions="\n".join(functions),
            signature=signature(),
            gates_size=gates_size,
            state_size=state,
            states_bytes=f"{2 * state} * sizeof(float)",
            w=self.inputs,
            r_at=self.inputs + 1,
            bias_at=self.inputs + 2,
            w_size=w.size // directions,
            r_size=r.size // directions,
            bias_size=bias.size // directions,
            initial="".join(starts),
            steps=self.steps,
            chunk=self.chunk,
            is_reverse=reverse,
            size=self.size,
            directions=directions,
            step=step,
            last=last,
            **common,
        )
        return make_kernel(
            self.operator.lower(),
            text,
            directions,
            self.outputs,
            workspace=4 * (gates_size + 3 * state),
            constants=(w, r, bias),
        )
