"""Variables of TensorFlow looked at in C++: in a twentieth of the time that its operation takes.

What looks is compiled against TensorFlow's headers, once for each of its versions, in the
background. Until it is there, and where it cannot be compiled, TensorFlow is asked.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context

import ffi

# Variables from which on it is worth some seconds of the compiler.
_FEWEST = 64
_NAME = "mx_watch"
_FUNCTIONS = {
    "changed": "Whether a variable of a watch may have its elements elsewhere.",
    "forget": "Frees a watch.",
}
_SOURCE = """\
#include <cstdint>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

namespace mx_watch {

using tensorflow::OpKernelContext;
using tensorflow::Var;

struct Watch {
  std::vector<tensorflow::core::RefCountPtr<Var>> variables;
  std::vector<const void*> seen;
  std::vector<tensorflow::Tensor> held;  // what nobody else holds
};

REGISTER_OP("MxWatch")
    .Input("handles: N * resource")
    .Input("seen: int64")
    .Attr("N: int >= 1")
    .Output("watch: int64")
    .SetIsStateful();

class MxWatch : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    auto watch = std::make_unique<Watch>();
    const int count = context->num_inputs() - 1;
    const auto seen = context->input(count).vec<int64_t>();
    for (int i = 0; i < count; ++i) {
      tensorflow::core::RefCountPtr<Var> variable;
      OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, i), &variable));
      const void* address = reinterpret_cast<const void*>(seen(i));
      if (address == nullptr) {
        tensorflow::tf_shared_lock lock(*variable->mu());
        watch->held.push_back(*variable->tensor());
        address = watch->held.back().data();
      }
      watch->seen.push_back(address);
      watch->variables.push_back(std::move(variable));
    }
    tensorflow::Tensor* made = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, tensorflow::TensorShape({}), &made));
    made->scalar<int64_t>()() = reinterpret_cast<int64_t>(watch.release());
  }
};
REGISTER_KERNEL_BUILDER(Name("MxWatch").Device(tensorflow::DEVICE_CPU), MxWatch);

}  // namespace mx_watch

bool changed(int64_t watch) {
  auto* all = reinterpret_cast<mx_watch::Watch*>(watch);
  for (size_t i = 0; i < all->seen.size(); ++i) {
    tensorflow::Var& one = *all->variables[i];
    // Who writes may wait for the GIL, which is held here, to free what was there before.
    if (!one.mu()->try_lock_shared()) return true;
    // In that mode elements are written in place, whoever else holds them.
    const bool same = !one.copy_on_read_mode.load() && one.tensor()->data() == all->seen[i];
    one.mu()->unlock_shared();
    if (!same) return true;
  }
  return false;
}

void forget(int64_t watch) { delete reinterpret_cast<mx_watch::Watch*>(watch); }
"""


def is_copied(array: Any) -> bool:
    """Whether an array has the elements of a variable, as TensorFlow gives them, in other memory:
    single numbers, and none."""
    return bool(array.ndim == 0 or array.size == 0)


class Watch:
    """Variables, of which each had its elements in memory that is still held, or has those that
    are copied as they were when this was made."""

    def __init__(self, operations: Any, handles: Sequence[Any], arrays: Sequence[Any]) -> None:
        addresses = [0 if is_copied(one) else one.__array_interface__["data"][0] for one in arrays]
        # What leads out of a function leads into the graph around it, if there is one.
        with tf.init_scope(), context.eager_mode(), tf.device("CPU:0"):
            made = operations.mx_watch(handles=handles, seen=tf.constant(addresses, tf.int64))
        self._number = int(made)
        self._changed = ffi.get_global_func(f"{_NAME}.changed")
        forget = ffi.get_global_func(f"{_NAME}.forget")
        weakref.finalize(self, forget, self._number).atexit = False

    def may_have_changed(self) -> bool:
        """Whether one has its elements elsewhere, or is being written."""
        return bool(self._changed(self._number))


class _Library:
    """What is compiled, once somebody has asked for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_asked_for = False
        self._loading = threading.Lock()
        self._is_ending = False
        self.operations: Any = None

    def ask(self) -> None:
        """Has it compiled, unless that has been done."""
        with self._lock:
            if self._is_asked_for:
                return
            self._is_asked_for = True
        atexit.register(self._end)
        try:
            threading.Thread(target=self._make, name="mx compiles", daemon=True).start()
        except RuntimeError:  # no thread to be had, or the process is ending
            return

    def _end(self) -> None:
        """Has nothing loaded while the process ends; waits for what is, unless forked from that."""
        self._is_ending = True
        if self._loading.acquire(timeout=10):
            self._loading.release()

    def _make(self) -> None:
        try:
            path = ffi.cpp.build(
                _NAME,
                _SOURCE,
                _FUNCTIONS,
                extra_cflags=["-w", "-O1", *tf.sysconfig.get_compile_flags()],
                extra_ldflags=tf.sysconfig.get_link_flags(),
            )
            # TensorFlow first: it finds operations only of what nobody else has loaded.
            with self._loading:
                if self._is_ending:
                    return
                operations = tf.load_op_library(str(path))
                ffi.load_library(path)
            self.operations = operations
        except Exception:  # no compiler, no headers, no room: TensorFlow goes on being asked
            return


_library = _Library()


def is_worth_it(count: int) -> bool:
    """Whether so many variables are looked at faster by a watch, which can be made by now."""
    if count < _FEWEST:
        return False
    if _library.operations is None:
        _library.ask()
    return _library.operations is not None


def watch_of(handles: Sequence[Any], arrays: Sequence[Any]) -> Watch | None:
    """Watches variables that have their elements in these arrays, which are held as long; None
    where TensorFlow has to be asked: for what is on another device, and what it copies to read."""
    try:
        made = Watch(_library.operations, handles, arrays)
    except tf.errors.OpError:
        return None
    return None if made.may_have_changed() else made
