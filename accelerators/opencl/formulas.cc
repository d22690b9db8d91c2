/*!
 * \file formulas.cc
 * \brief The formulas of elementwise operators, as OpenCL C.
 */
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

}  // namespace opencl
