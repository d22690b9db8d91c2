/*!
 * \file primitive.h
 * \brief Primitive: what makers give; Maker, with which they do.
 */
#ifndef MXNET_SRC_ONEDNN_PRIMITIVE_H_
#define MXNET_SRC_ONEDNN_PRIMITIVE_H_

#include <mxnet/op/kernel_tensors.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onednn/operand.h"
#include "onednn/steps.h"
#include "onednn/threads.h"

namespace mxnet {
namespace onednn {

/*! \brief None for row-major. */
using MaybeLayout = std::optional<Layout>;

/*! \brief A kernel, with the layouts that it reads and writes. */
struct Primitive {
  std::string name;             /*!< "onednn.convolution jit:avx512_core" */
  std::unique_ptr<Steps> steps; /*!< what a run does */
  std::vector<op::KernelInput> inputs;
  std::vector<op::KernelOutput> outputs;
  std::vector<MaybeLayout> input_layouts; /*!< that data has to be brought to */
  std::vector<MaybeLayout> output_layouts;
  std::string implementation; /*!< as oneDNN calls it: "jit:avx512_core" */
  bool is_reference{false};   /*!< whether it walks by single elements */
};

/*! \brief Whether an implementation walks by single elements: "ref:any", and "gemm:ref", whose
 * products are those of the reference. */
bool IsReference(const std::string& implementation);

/*! \brief What make(layout) gives for the layout that x is offered in; for a row-major one, where
 * only that is fast, and x may come so. */
template <typename MakeDesc>
auto BestOf(const Operand& x, const MakeDesc& make) -> decltype(make(Desc())) {
  auto desc = make(x.Offered());
  if (x.is_plain() || x.keep || !IsReference(desc.impl_info_str())) return desc;
  auto plain = make(PlainDesc(x.shape, x.type));
  return IsReference(plain.impl_info_str()) ? desc : plain;
}

/*! \brief Puts a Primitive together. Primitives of oneDNN are made while there is a Maker, for as
 * many threads as they will run on. */
class Maker {
 public:
  /*! \brief name is that of the function: "convolution". */
  explicit Maker(const std::string& name);

  /*! \brief A constant, packed now; or the next input, which runs bring in that layout. */
  Argument Bind(int name, const Operand& operand, const Desc& desc) {
    return Bind(name, operand, operand.Offered(), desc);
  }
  /*! \brief The same of an operand that is seen in another shape, in which it lies so. */
  Argument Bind(int name, const Operand& operand, const Desc& lies, const Desc& desc);
  /*! \brief The same, but that runs bring the next input as it lies; each run brings it to the
   * layout then. For what changes from run to run, and what other layouts are of no use for. */
  Argument BindPacked(int name, const Operand& operand, const Desc& lies, const Desc& desc);
  /*! \brief The same elements in another layout, which each run makes if it differs. */
  Argument Brought(const Argument& from, const Desc& desc);
  /*! \brief Memory for an intermediate result. */
  Argument Temporary(int name, const Desc& desc) {
    return {name, desc, made_.steps->Workspace(desc.get_size())};
  }
  /*! \brief Adds a step that writes the elements of one argument to another. */
  void Copy(const Argument& from, const Argument& to);
  /*! \brief The next output. */
  Argument Output(int name, const Desc& desc, DLDataType dtype, Dims shape);

  /*! \brief Adds a step. Its implementation is the Primitive's, where it is the first. */
  void Add(const dnnl::primitive_desc_base& desc, std::vector<Argument> arguments);
  /*! \brief Says that what oneDNN calls its reference is fast here. */
  void TrustReference() { trusts_reference_ = true; }
  /*! \brief Says that an output may lie where an input does. */
  void AllowInPlace(const Argument& input, const Argument& output);

  /*!
   * \brief Tells how long a primitive takes one thread, about, in nanoseconds. What takes no longer
   * than waking another thread stays on the calling one. Before the primitive is made.
   */
  void Expect(double nanoseconds);

  Steps* steps() { return made_.steps.get(); }
  Primitive Finish();

 private:
  const ThreadScope scope_;
  std::optional<ThreadScope> one_thread_;
  Primitive made_;
  bool trusts_reference_{false};
};

/*! \brief What body(&maker) makes; the errors of oneDNN, too, are those of the function. */
template <typename Body>
Primitive Make(const char* name, const Body& body) {
  return Translated([&] {
    Maker maker(name);
    body(&maker);
    return maker.Finish();
  });
}

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_PRIMITIVE_H_
