/*!
 * \file context.cc
 * \brief The stack of `with ctx:` blocks of each thread.
 */
#include "api/common/context.h"

#include <mxnet/runtime/registry.h>

#include <vector>

#include "api/common/dispatch.h"

namespace mxnet {
namespace op {
namespace {

// Apart from the stack, because creating an array reads it every time; initial-exec saves the call
// that finds a thread-local of a shared library.
#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((tls_model("initial-exec")))
#endif
thread_local Context current{kDLCPU, 0};

std::vector<Context>* OuterContexts() {
  thread_local std::vector<Context> outer;
  return &outer;
}

MXNET_REGISTER_API("mx.context.push")
    .describe("Makes a context the current one of this thread, until it is popped.")
    .add_argument("ctx", "Context | str", "The context.")
    .returns("None")
    .set_body_typed([](Context ctx) {
      OuterContexts()->push_back(current);
      current = ctx;
    });

MXNET_REGISTER_API("mx.context.pop")
    .describe("Restores the context that was current before the last push on this thread.")
    .returns("None")
    .set_body_typed([]() {
      if (OuterContexts()->empty()) {
        MXNET_THROW("RuntimeError") << "mx.context.pop: no context was pushed on this thread";
      }
      current = OuterContexts()->back();
      OuterContexts()->pop_back();
    });

MXNET_REGISTER_API("mx.context.current")
    .describe("Returns the context that new arrays of this thread go to.")
    .returns("Context")
    .set_body_typed([]() { return current; });

}  // namespace

Context CurrentContext() noexcept { return current; }

}  // namespace op
}  // namespace mxnet
