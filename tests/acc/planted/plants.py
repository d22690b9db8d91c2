"""The faults of the library that is built here: the check that finds each, and words of it."""

# The fault, as MXACC_PLANTED names it: the check that finds it, and what that says.
PLANTS = {
    # copies
    "negative strides of copies": ("copies.strides_to", "elements differ"),
    "mx_zero without its offset": ("memory.zero", "zeros there and nowhere else"),
    "the host is read late": ("copies.round_trip", "elements differ"),
    "copies of more than 1000 rows": ("copies.round_trip", "the first at [1000, "),
    # broadcasting and layouts
    "rows broadcast": ("operators.binary", "(3, 5) and (5,)"),
    "columns broadcast": ("operators.binary", "(3, 1) and (1, 5)"),
    "strided out": ("operators.outputs", "out.T"),
    "a batch of one": ("operators.axes", "matmul float32 (1, 3, 4) and (1, 4, 5)"),
    "permuted tensordot": ("operators.axes", "axes=((1, 0), (0, 1))"),
    "sums over three axes": ("operators.axes", "axis=(0, 1, 2)"),
    "sums over negative axes": ("operators.axes", "axis=(-1, -3)"),
    "dot of more axes": ("operators.axes", "dot float32 (2, 3, 4) and (5, 4, 6)"),
    "five axes crash": ("operators.axes", "SIGSEGV"),
    # offsets
    "byte_offset of x2": ("operators.binary", "the second run, elsewhere"),
    "byte_offset of outputs": ("operators.unary", "the second run, elsewhere"),
    "unaligned offsets": ("operators.unary", "the second run, elsewhere"),
    "views of products": ("operators.products", "the second run, elsewhere"),
    # streams
    "last in, first out": ("queues.copies", "elements differ"),
    "structs are kept": ("streams.structs", ""),
    "recorded once": ("queues.marks_again", "elements differ"),
    "destroying drops work": ("queues.destroy", "elements differ"),
    "early sync": ("queues.sync", "elements differ"),
    "finalize crashes": ("load.initialize", "finalize returns"),
    "threads are left": ("reload.grows", "threads"),
    "waitEvent does nothing": ("queues.events", "elements differ"),
    "events of another device": ("queues.devices", "elements differ"),
    "copyWithinAcc outside its stream": ("queues.copies", "elements differ"),
    "products before their turn": ("operators.products", "in a stream, with much before it"),
    "sums in streams": ("operators.reductions", "in a stream, with much before it"),
    "lost errors": ("failures.told", "errors of the work"),
    "only the first error": ("failures.told", "errors of the work"),
    "errors of other work": ("failures.told", "errors of the work"),
    # size
    "columns from 64 on": ("operators.products", "(64, 65) and (65, 66)"),
    "add beyond 2^16": ("operators.sizes", "add float32 (70001,) and (70001,)"),
    "sums beyond 2^16": ("operators.sizes", "sum float32 (70001,)"),
    "K beyond 1024": ("operators.sizes", "(5, 1500) and (1500, 7)"),
    # numbers
    "NaN of maximum": ("operators.binary", "instead of nan"),
    "NaN of float16": ("operators.special", "instead of nan"),
    "TF32": ("operators.products", "where 1e-05 of it"),
    "numbers without a point": ("operators.binary", "and 2"),
    "int64 through double": ("operators.integers", "beyond 2^53"),
    "float16 is added up in float16": ("operators.accumulation", "float16"),
    "subnormal numbers": ("operators.special", "subnormal numbers"),
    # memory
    "success without memory": ("memory.absurd", "success"),
    "another code for no memory": ("memory.absurd", "failed"),
    "memory of the device lost": ("leaks.device", "pieces"),
    "10 KB lost by each executor": ("leaks.executors", "bytes more by each call"),
    "256 bytes lost by each run": ("leaks.runs", "bytes more by each call"),
    "NULL near the limit": ("memory.limit", "success, with NULL"),
    # threads
    "one error for all threads": ("errors.lives", "there is no room for"),
    "unlocked allocator": ("threads.memory", ""),
    "shared scratch": ("threads.executors", "something else than in one thread"),
    # others
    "writing beyond": ("operators.unary", "0 bytes behind its last element"),
    "inputs are changed": ("operators.binary", "input 0 has changed"),
    "cached pointers": ("operators.unary", "elements differ"),
    "unknown keywords": ("configure.unknown", "success"),
    "device 1": ("operators.unary", "elements differ"),
}
