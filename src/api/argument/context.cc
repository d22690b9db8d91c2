/*!
 * \file context.cc
 * \brief The stack of `with ctx:` blocks of each thread.
 */
#include <mxnet/runtime/registry.h>

#include <vector>

#include "api/argument/arguments.h"
#include "runtime/core/devices.h"
#include "runtime/core/tls.h"

namespace mxnet {
namespace op {
namespace {

// Apart from the stack, because creating an array reads it every time.
MXNET_TLS_INITIAL_EXEC thread_local Context current{kDLCPU, 0};

std::vector<Context>* OuterContexts() {
  thread_local std::vector<Context> outer;
  return &outer;
}

void Push(DLDevice ctx) {
  OuterContexts()->push_back(current);
  current = ctx;
}

bool Pop() {
  if (OuterContexts()->empty()) return false;
  current = OuterContexts()->back();
  OuterContexts()->pop_back();
  return true;
}

DLDevice Current() { return current; }

constexpr runtime::ContextStack kStack{&Push, &Pop, &Current};

[[maybe_unused]] const bool is_used = [] {
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&kStack));
  PackedFunc::GetGlobal("runtime.use_context_stack")(address);
  return true;
}();

}  // namespace

Context CurrentContext() noexcept { return current; }

}  // namespace op
}  // namespace mxnet
