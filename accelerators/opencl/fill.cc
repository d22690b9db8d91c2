/*!
 * \file fill.cc
 * \brief Arrays of one number: zeros, ones, full and their likes; empty ones.
 */
#include "elementwise.h"

namespace opencl {
namespace {

/*! \brief The elements may be anything. */
class NoWork : public Work {
 public:
  void Run(Commands*, const Place*) override {}
};

enum class Content { kAny, kZero, kOne, kGiven };

constexpr struct {
  const char* name;
  const char* model; /*!< the parameter that says the shape */
  Content content;
} kOperators[] = {
    {"empty", "shape", Content::kAny},  {"empty_like", "prototype", Content::kAny},
    {"zeros", "shape", Content::kZero}, {"zeros_like", "a", Content::kZero},
    {"ones", "shape", Content::kOne},   {"ones_like", "a", Content::kOne},
    {"full", "shape", Content::kGiven}, {"full_like", "a", Content::kGiven},
};

Operand Whole(int64_t number) {
  Operand operand{nullptr, {}, DType::kBool};
  operand.number.kind = JsonValue::Kind::kInt;
  operand.number.integer = number;
  return operand;
}

}  // namespace

std::unique_ptr<Work> MakeFill(const Request& request) {
  for (const auto& entry : kOperators) {
    if (request.name() != entry.name) continue;
    request.CheckNames({entry.model, "fill_value", "dtype"});
    if (entry.content == Content::kAny) return std::make_unique<NoWork>();
    const DType dtype = DTypeOf(request.output().dtype);
    const Operand value = entry.content == Content::kGiven ? FindOperand(request, "fill_value")
                                                           : Whole(entry.content == Content::kOne);
    return MakeFormula(request, {value}, {"a", "", {dtype}, dtype});
  }
  return nullptr;
}

}  // namespace opencl
