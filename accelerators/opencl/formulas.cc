/*!
 * \file formulas.cc
 * \brief The formulas of elementwise operators and reductions, as OpenCL C.
 */
#include "dtype.h"
#include "elementwise.h"

namespace opencl {
namespace {

constexpr const char* kFormulas[] = {
#define MXNET_FORMULA(name, family, ...) #__VA_ARGS__,
#include <mxnet/op/formulas.inc>
};

constexpr struct {
  const char* name;
  const char* function;
} kHelpers[] = {
#define MXNET_FORMULA_HELPER(name, ...) {#name, #__VA_ARGS__},
#include <mxnet/op/formulas.inc>
};

}  // namespace

std::string FormulaText(Formula formula) { return kFormulas[static_cast<size_t>(formula)]; }

std::string HelperText(Formula formula) {
  const std::string text = FormulaText(formula);
  std::string helpers;
  for (const auto& helper : kHelpers) {
    if (text.find(helper.name) != std::string::npos) helpers += std::string(helper.function) + "\n";
  }
  return helpers;
}

std::string FormulaTypes(DType dtype) {
  std::string types = std::string("#define C ") + ComputeType(dtype) + "\n";
  if (!IsFloat(dtype)) {
    types += std::string("#define W ") + WrappingType(dtype) + "\n#define U " +
             UnsignedType(dtype) + "\n#define BITS " + std::to_string(BitsOf(dtype)) + "\n";
  }
  return types;
}

std::string FormulaFunction(const std::string& name, Formula formula, DType dtype) {
  return FormulaTypes(dtype) + HelperText(formula) + "C " + name + "(C a, C b) { return (C)(" +
         FormulaText(formula) + "); }\n#undef C\n#undef W\n#undef U\n#undef BITS\n";
}

}  // namespace opencl
