// Element types of operators: two-byte floats and the numbering of data types.
#include <cmath>
#include <limits>

#include "./support.h"
#include "op/semantics/dispatch.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::op;  // NOLINT: the subject of the test

namespace {

uint16_t HalfBits(float value) { return Half(value).bits; }
uint16_t BFloat16Bits(float value) { return BFloat16(value).bits; }

template <typename T>
T FromBits(uint32_t bits) {
  T value;
  value.bits = static_cast<uint16_t>(bits);
  return value;
}

}  // namespace

TEST_CASE("every two-byte float survives the way to float and back") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half = FromBits<Half>(bits);
    const BFloat16 brain = FromBits<BFloat16>(bits);
    const float half_value = half;
    const float brain_value = brain;
    // A NaN stays one, but may become quiet.
    wrong += std::isnan(half_value) ? !std::isnan(static_cast<float>(Half(half_value)))
                                    : HalfBits(half_value) != bits;
    wrong += std::isnan(brain_value) ? !std::isnan(static_cast<float>(BFloat16(brain_value)))
                                     : BFloat16Bits(brain_value) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("float16 rounds to nearest, ties to even") {
  CHECK(HalfBits(1.0f) == 0x3c00);
  CHECK(HalfBits(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(HalfBits(1.0f + 0x1.8p-10f) == 0x3c02);
  CHECK(HalfBits(1.0f + 0x1.002p-11f) == 0x3c01);
  CHECK(HalfBits(65504.0f) == 0x7bff);
  CHECK(HalfBits(65519.0f) == 0x7bff);
  CHECK(HalfBits(65520.0f) == 0x7c00);
  CHECK(HalfBits(-std::numeric_limits<float>::infinity()) == 0xfc00);
  CHECK(HalfBits(0x1p-24f) == 0x0001);
  CHECK(HalfBits(0x1p-25f) == 0x0000);
  CHECK(HalfBits(0x1.8p-24f) == 0x0002);
  CHECK(HalfBits(-0.0f) == 0x8000);
}

TEST_CASE("bfloat16 rounds to nearest, ties to even") {
  CHECK(BFloat16Bits(1.0f) == 0x3f80);
  CHECK(BFloat16Bits(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(BFloat16Bits(1.0f + 0x1.8p-7f) == 0x3f82);
  CHECK(BFloat16Bits(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(BFloat16Bits(-0.0f) == 0x8000);
}

TEST_CASE("a double is rounded once") {
  // Rounded to float first, each of these would become a tie and fall to the even side.
  CHECK(Half(1.0 + 0x1p-11 + 0x1p-40).bits == 0x3c01);
  CHECK(Half(1.0 + 0x1.8p-10 - 0x1p-40).bits == 0x3c01);
  CHECK(BFloat16(1.0 + 0x1p-8 + 0x1p-40).bits == 0x3f81);
  CHECK(Half(-1.0 - 0x1p-11 - 0x1p-40).bits == 0xbc01);
  CHECK(Half(1e300).bits == 0x7c00);
  CHECK(Half(1e-300).bits == 0x0000);
}

TEST_CASE("data types are numbered by their C++ types") {
  for (int i = 0; i < kNumDTypes; ++i) {
    CHECK(IndexOfDType(kDTypes[i]) == i);
    const auto size = DispatchDType(kDTypes[i], [](auto tag) {
      return static_cast<int64_t>(sizeof(typename decltype(tag)::type));
    });
    CHECK(size == ItemSize(kDTypes[i]));
    const DLDataType same =
        DispatchDType(kDTypes[i], [](auto tag) { return DTypeOf<typename decltype(tag)::type>(); });
    CHECK(same == kDTypes[i]);
  }
}

TEST_CASE("data types without a C++ type are rejected") {
  const DLDataType unknown[] = {
      {kDLInt, 4, 1},           {kDLInt, 128, 1}, {kDLFloat, 8, 1},   {kDLFloat, 32, 4},
      {kDLOpaqueHandle, 64, 1}, {kDLBool, 16, 1}, {kDLBfloat, 32, 1}, {kDLComplex, 32, 1},
      {kDLFloat, 24, 1},        {200, 32, 1},     {kDLInt, 0, 1},
  };
  for (const DLDataType& dtype : unknown) {
    CHECK(IndexOfDType(dtype) == -1);
    const std::string error = ErrorOf([&] { DispatchDType(dtype, [](auto) {}); });
    CHECK(error == "TypeError: data type " + DataTypeName(dtype) + " is not supported");
  }
}
