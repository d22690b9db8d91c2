/*!
 * \file mxnet/op/kernel.h
 * \brief A kernel: work on tensors of fixed specs, chosen before it runs. Plans are made of them.
 *
 * An operator says what can be computed; a kernel computes it for one set of shapes, types,
 * attributes and constant inputs, all of which were looked at when it was made. A library that
 * makes kernels (of oneDNN, say) needs this header only:
 *
 *   struct Scale {
 *     float factor;
 *     void Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void* workspace) const;
 *   };
 *   Ref<Kernel> made = MakeKernel("scale", {{{kFloat32, {2, 3}}}}, {{kFloat32, {2, 3}}},
 *                                 std::make_unique<Scale>(...));
 */
#ifndef MXNET_OP_KERNEL_H_
#define MXNET_OP_KERNEL_H_

#include <mxnet/op/kernel_tensors.h>
#include <mxnet/runtime/ndarray.h>
#include <mxnet/runtime/packed_func.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/*!
 * \brief A kernel in plain C. Several threads may run it at once, each with memory of its own, so
 * that run does not write to state.
 */
typedef struct MXNetKernel {
  size_t struct_size;
  void* state;
  /*!
   * \brief Writes the outputs. Tensors have the shapes, types and strides that the kernel was made
   * for; only their addresses differ from run to run, and byte_offset is 0. Outputs share no memory
   * with inputs but as Kernel::in_place allows. workspace is aligned to 64 bytes, NULL where
   * workspace_bytes is 0. Returns 0, or -1 after MXNetSetLastError.
   */
  int (*run)(void* state, const DLTensor* inputs, int num_in, DLTensor* outputs, int num_out,
             void* workspace);
  /*! \brief Called once when the kernel goes; may be NULL. */
  void (*free)(void* state);
  size_t workspace_bytes;
} MXNetKernel;

namespace mxnet {
namespace op {

/*! \brief What is known of all inputs; nothing of those of kernels that take any. */
using KernelInputs = std::optional<std::vector<KernelInput>>;

/*! \brief A kernel with what a plan has to know of it; `mx.graph.Kernel` of Python. */
class Kernel {
 public:
  /*! \brief Takes what kernel.state is. name is what profiles call the implementation. */
  Kernel(MXNetKernel kernel, std::string name, KernelInputs inputs,
         std::vector<KernelOutput> outputs, std::vector<KernelConstant> constants = {})
      : kernel_(kernel),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        constants_(std::move(constants)) {}
  ~Kernel() {
    if (kernel_.free != nullptr) kernel_.free(kernel_.state);
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const MXNetKernel& kernel() const { return kernel_; }
  const std::string& name() const { return name_; }
  const KernelInputs& inputs() const { return inputs_; }
  const std::vector<KernelOutput>& outputs() const { return outputs_; }
  const std::vector<KernelConstant>& constants() const { return constants_; }
  int64_t workspace_bytes() const { return static_cast<int64_t>(kernel_.workspace_bytes); }

 private:
  MXNetKernel kernel_;
  std::string name_;
  KernelInputs inputs_;
  std::vector<KernelOutput> outputs_;
  std::vector<KernelConstant> constants_;
};

}  // namespace op
}  // namespace mxnet

MXNET_DECLARE_CLASS(mxnet::op::Kernel, "mx.graph.Kernel");

namespace mxnet {
namespace op {

namespace details {

template <typename State, typename = void>
struct HasConstants : std::false_type {};
template <typename State>
struct HasConstants<State, std::void_t<decltype(std::declval<const State&>().constants())>>
    : std::true_type {};

}  // namespace details

/*! \brief A kernel whose state has `void Run(in, num_in, out, num_out, workspace) const`, and where
 * it keeps memory `std::vector<KernelConstant> constants() const`. */
template <typename State>
runtime::Ref<Kernel> MakeKernel(std::string name, KernelInputs inputs,
                                std::vector<KernelOutput> outputs, std::unique_ptr<State> state,
                                size_t workspace_bytes = 0) {
  MXNetKernel kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.state = state.get();
  kernel.run = [](void* self, const DLTensor* in, int num_in, DLTensor* out, int num_out,
                  void* workspace) {
    const auto run = [&] {
      static_cast<const State*>(self)->Run(in, num_in, out, num_out, workspace);
      return 0;
    };
    return runtime::details::Guarded(run,
                                     [](const runtime::Error& error) { return error.SetLast(); });
  };
  kernel.free = [](void* self) { delete static_cast<State*>(self); };
  kernel.workspace_bytes = workspace_bytes;
  std::vector<KernelConstant> constants;
  if constexpr (details::HasConstants<State>::value) constants = state->constants();
  auto made = runtime::Ref<Kernel>::Make(kernel, std::move(name), std::move(inputs),
                                         std::move(outputs), std::move(constants));
  state.release();
  return made;
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_OP_KERNEL_H_
