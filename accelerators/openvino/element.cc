#include "element.h"

#include <algorithm>

namespace ovacc {
namespace {

constexpr Element kElements[] = {
    {kMXAccFloat, 32, 1, F32},   {kMXAccUInt, 8, 2, U8},      {kMXAccInt, 8, 3, I8},
    {kMXAccUInt, 16, 4, U16},    {kMXAccInt, 16, 5, I16},     {kMXAccInt, 32, 6, I32},
    {kMXAccInt, 64, 7, I64},     {kMXAccBool, 8, 9, BOOLEAN}, {kMXAccFloat, 16, 10, F16},
    {kMXAccFloat, 64, 11, F64},  {kMXAccUInt, 32, 12, U32},   {kMXAccUInt, 64, 13, U64},
    {kMXAccBfloat, 16, 16, BF16}};

}  // namespace

const Element* FindElement(MXAccDataType dtype) {
  for (const Element& element : kElements) {
    if (element.code == dtype.code && element.bits == dtype.bits) return &element;
  }
  return nullptr;
}

const Element* FindElement(ov_element_type_e type) {
  for (const Element& element : kElements) {
    if (element.openvino == type) return &element;
  }
  return nullptr;
}

const int64_t* FindWide(const int64_t* numbers, size_t count) {
  const auto is_wide = [](int64_t number) { return number <= INT32_MIN || number > INT32_MAX; };
  // A loop without a way out of it takes several at a time.
  bool any = false;
  for (size_t i = 0; i < count; ++i) any |= is_wide(numbers[i]);
  return any ? std::find_if(numbers, numbers + count, is_wide) : nullptr;
}

}  // namespace ovacc
