/*!
 * \file reorder.cc
 * \brief From one layout, or element type, to another.
 */
#include "onednn/makers.h"

namespace mxnet {
namespace onednn {
Primitive MakeReorder(const GivenOperand& given_x, const MaybeLayout& to,
                      const std::optional<DLDataType>& dtype) {
  return Make("reorder", [&](Maker* maker) {
    const Operand x(given_x, "x");
    if (to && to->shape() != x.shape) {
      MXNET_THROW("ValueError") << "to: expected a layout of the shape " << Text(x.shape)
                                << ", got one of " << Text(to->shape());
    }
    const DLDataType wanted = to ? to->dtype() : dtype.value_or(x.dtype);
    const Desc target = to ? to->desc() : PlainDesc(x.shape, TypeOf(wanted, "dtype"));
    maker->Expect(TimeOfElements(SizeOf(x.shape)));
    const dnnl::reorder::primitive_desc desc(Engine(), x.Offered(), Engine(), target,
                                             AttributesWith());
    std::vector<Argument> arguments{maker->Bind(DNNL_ARG_FROM, x, x.Offered())};
    arguments.push_back(maker->Output(DNNL_ARG_TO, target, wanted, x.GivenShape()));
    maker->Add(desc, std::move(arguments));
  });
}

namespace {}  // namespace
}  // namespace onednn
}  // namespace mxnet
