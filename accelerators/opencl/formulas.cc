/*!
 * \file formulas.cc
 * \brief The formulas of elementwise operators, as OpenCL C.
 */
#include "elementwise.h"

namespace opencl {
namespace {

constexpr const char* kFormulas[] = {
#define HELPER(name, ...)
#define FORMULA(name, family, ...) #__VA_ARGS__,
#include "../sdk/operators/formulas.inc"
#undef FORMULA
#undef HELPER
};

constexpr struct {
  const char* name;
  const char* function;
} kHelpers[] = {
#define HELPER(name, ...) {#name, #__VA_ARGS__},
#define FORMULA(name, family, ...)
#include "../sdk/operators/formulas.inc"
#undef FORMULA
#undef HELPER
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
