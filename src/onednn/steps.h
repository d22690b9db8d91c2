/*!
 * \file steps.h
 * \brief What a kernel of oneDNN does: primitives, in order, on memory that each run brings.
 */
#ifndef MXNET_SRC_ONEDNN_STEPS_H_
#define MXNET_SRC_ONEDNN_STEPS_H_

#include <mxnet/op/kernel_tensors.h>
#include <mxnet/runtime/dlpack.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "onednn/engine.h"

namespace mxnet {
namespace onednn {

/*! \brief Where an argument of a primitive is. */
struct Location {
  enum class Kind { kInput, kOutput, kWorkspace, kConstant };

  Kind kind;
  size_t index;     /*!< of the input, output or constant */
  size_t offset{0}; /*!< bytes */
};

struct Argument {
  int name; /*!< DNNL_ARG_... */
  Desc desc;
  Location location;
};

/*! \brief Memory that kernels share, aligned as oneDNN likes it. */
class Buffer {
 public:
  explicit Buffer(size_t bytes);
  /*! \brief Memory that is there already, and is not written to. */
  Buffer(std::shared_ptr<const void> data, size_t bytes)
      : data_(std::const_pointer_cast<void>(std::move(data))), bytes_(bytes) {}
  void* data() const { return data_.get(); }
  const std::shared_ptr<void>& shared() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  size_t bytes_;
};

/*! \brief Writes elements from one layout to another, whose types may differ. */
void Reorder(const Desc& from, const void* data, const Desc& to, void* result);

/*! \brief The state of a kernel. Made by one thread; then any threads run it, several at once. */
class Steps {
 public:
  explicit Steps(int threads);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /*! \brief Memory for intermediate results. */
  Location Workspace(size_t bytes);
  /*! \brief A copy in the layout, converted to its type. Of NULL there is none, and the kernel
   * cannot run. */
  Location Constant(const void* data, const Desc& lies, const Desc& wanted);
  /*! \brief Those bytes, copied. */
  Location Constant(const void* data, size_t bytes);
  Location Constant(Buffer buffer);

  void Add(const dnnl::primitive_desc_base& desc, std::vector<Argument> arguments);
  /*! \brief Before the first primitive an input is copied to an output, where it does not lie there
   * already. */
  void Begin(size_t input, size_t output, size_t bytes);
  /*! \brief How many tensors a run has to bring. */
  void Expect(int num_in, int num_out);

  /*! \brief Leaves all to the calling thread. Before the first primitive is made. */
  void UseOneThread() { threads_ = 1; }

  size_t workspace_bytes() const { return workspace_bytes_; }
  std::vector<op::KernelConstant> constants() const;
  /*! \brief Writes constants that were packed again, from the address that `now` gives for the one
   * that they were packed from, unless that is NULL; how many. No run is under way. */
  size_t Repack(const std::function<const void*(const void*)>& now);
  void Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void* workspace) const;

 private:
  struct Slot;
  struct Step {
    dnnl::primitive primitive;
    size_t num_arguments;
  };
  /*! \brief A constant as it was packed. */
  struct Packed {
    const void* from;
    Desc lies;
    Desc wanted;
    size_t constant;
  };
  struct Copy {
    size_t input;
    size_t output;
    size_t bytes;
  };

  [[gnu::noinline]] Slot* MakeSlot() const;
  Slot* TakeSlot() const;
  void ReturnSlot(Slot* slot) const;

  int threads_;
  int num_in_{0};
  int num_out_{0};
  std::vector<Step> steps_;
  std::vector<Argument> arguments_; /*!< of the steps, in order */
  std::vector<Copy> copies_;
  size_t workspace_bytes_{0};
  bool is_asked_{false}; /*!< a constant has no elements: nothing is made that could run */
  std::vector<Buffer> constants_;
  std::vector<Packed> packed_;

  /*! \brief One that no run uses: all there is while one thread at a time runs the kernel. */
  mutable std::atomic<Slot*> spare_{nullptr};
  mutable std::mutex mutex_;
  mutable std::vector<Slot*> more_;
};

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_STEPS_H_
