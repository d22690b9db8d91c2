/*!
 * \file infer.cc
 * \brief Compares every call of an operator with what the operator's infer tells of it.
 */
#include <mxnet/op/c_operator_api.h>
#include <mxnet/op/dims.h>
#include <mxnet/op/extent.h>
#include <mxnet/runtime/container/array.h>
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/stl.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/core/call_observer.h"

namespace testing {
namespace {

using namespace mxnet::runtime;  // NOLINT(build/namespaces): tests of all of it
using mxnet::op::DimBuffer;

/*! \brief What a call came to: the specs of its outputs, or its error. */
struct Outcome {
  std::string specs;
  std::string kind;
  std::string message;
};

/*! \brief A call that infer tells something else of. */
struct Difference {
  std::string name;
  std::string arguments;
  Outcome called;
  Outcome inferred;
};

/*! \brief What has been compared so far. */
class Comparison {
 public:
  static Comparison& Global() {
    static auto* comparison = new Comparison();  // threads call until the process ends
    return *comparison;
  }

  void Count(const char* name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++calls_[name];
  }
  void Add(Difference difference) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (differences_.size() < kMost) differences_.push_back(std::move(difference));
  }
  std::vector<Difference> TakeDifferences() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(differences_, {});
  }
  std::map<std::string, int64_t> calls() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }

 private:
  static constexpr size_t kMost = 1000;

  std::mutex mutex_;
  std::map<std::string, int64_t> calls_;
  std::vector<Difference> differences_;
};

/*! \brief More outputs than this are counted, and not looked at one by one. */
constexpr int kMostOutputs = 1000;

/*! \brief What infer tells of a call. */
struct Inferred {
  Inferred(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
           int num_args) {
    int count = 1;
    SetRoom(count);
    status = MXNetOperatorInfer(func, values, type_codes, num_args, specs.data(), &count);
    if (status == 0 && count > 1 && count <= kMostOutputs) {
      SetRoom(count);
      status = MXNetOperatorInfer(func, values, type_codes, num_args, specs.data(), &count);
    }
    specs.resize(static_cast<size_t>(std::min(count, kMostOutputs + 1)));
  }

  int status;
  std::vector<MXNetTensorSpec> specs;

 private:
  void SetRoom(int count) {
    shapes_.resize(static_cast<size_t>(count));
    specs.clear();
    for (DimBuffer& shape : shapes_) specs.push_back({{}, {}, 0, kMXNetWeakNone, shape.data});
  }

  std::vector<DimBuffer> shapes_;
};

std::string SpecText(DLDataType dtype, ShapeView shape) {
  std::string text = DataTypeName(dtype) + "(";
  for (int64_t extent : shape) text += mxnet::op::ExtentText(extent) + ",";
  return text + ")";
}

Outcome LastOutcome() {
  const MXNetErrorInfo& error = *MXNetGetLastError();
  return {"", error.kind, std::string(error.message.data, error.message.size)};
}

/*! \brief A Python float among the results, as linspace gives its step. */
const DLTensor* FloatSpec() {
  static const DLTensor spec{nullptr, {kDLCPU, 0}, 0, {kDLFloat, 64, 1}, nullptr, nullptr, 0};
  return &spec;
}

/*! \brief The arrays that a call gave; where it gave none, those that it has changed. */
std::vector<const DLTensor*> ArraysOf(const MXNetFuncInfo& info, const MXNetArgs& args,
                                      const MXNetValue& ret, int type_code) {
  std::vector<const DLTensor*> arrays;
  const auto add = [&](const MXNetValue& value, int code) {
    const DLTensor* tensor = code == kMXNetFloat ? FloatSpec() : nullptr;
    if (tensor == nullptr &&
        TypeTraits<const DLTensor*>::TryFrom(value, code, &tensor) != Match::kOk) {
      MXNET_THROW("TypeError") << "an operator gave " << TypeNameOf(value, code);
    }
    arrays.push_back(tensor);
  };
  const MXNetAnyArray* items = details::ItemsOf(ret, type_code);
  if (type_code == kMXNetNull) {
    for (int i = 0; i < args.num_args; ++i) {
      if (info.params[i].flags == kMXNetParamMutated) add(args.values[i], args.type_codes[i]);
    }
  } else if (items == nullptr) {
    add(ret, type_code);
  } else {
    const size_t size = std::min(items->size, static_cast<size_t>(kMostOutputs) + 1);
    for (size_t i = 0; i < size; ++i) add(items->data[i].value, items->data[i].type_code);
  }
  return arrays;
}

/*! \brief Whether an array is as told; extents that follow from elements are told by symbols. */
bool IsAsTold(const DLTensor& array, const MXNetTensorSpec& spec, bool by_elements) {
  if (array.dtype != spec.dtype || array.ndim != spec.ndim) return false;
  for (int i = 0; i < array.ndim; ++i) {
    const bool is_any = by_elements && mxnet::op::IsSymbolic(spec.shape[i]);
    if (!is_any && spec.shape[i] != array.shape[i]) return false;
  }
  return true;
}

bool AreAsTold(const std::vector<const DLTensor*>& arrays, const Inferred& inferred,
               bool by_elements) {
  if (arrays.size() != inferred.specs.size()) return false;
  if (arrays.size() > kMostOutputs) return true;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!IsAsTold(*arrays[i], inferred.specs[i], by_elements)) return false;
  }
  return true;
}

std::string TextOf(const MXNetArgs& args) {
  std::string text;
  for (int i = 0; i < args.size(); ++i) {
    const DLTensor* tensor = nullptr;
    text += i == 0 ? "" : ", ";
    text += args[i].TryAs<const DLTensor*>(&tensor) == Match::kOk
                ? SpecText(tensor->dtype, TensorShape(*tensor))
                : args[i].type_name();
  }
  return text;
}

void CompareResult(const MXNetFuncInfo& info, const MXNetArgs& args, const MXNetValue& ret,
                   int ret_type_code) {
  const bool by_elements = static_cast<const MXNetOperator*>(info.op)->measure != nullptr;
  const auto arrays = ArraysOf(info, args, ret, ret_type_code);
  const Inferred inferred(args.func, args.values, args.type_codes, args.num_args);
  Difference difference{info.name, "", {}, {}};
  if (inferred.status != 0) {
    difference.inferred = LastOutcome();
  } else if (AreAsTold(arrays, inferred, by_elements)) {
    return;
  }
  for (const MXNetTensorSpec& spec : inferred.specs) {
    if (inferred.status != 0) break;
    difference.inferred.specs +=
        SpecText(spec.dtype, ShapeView(spec.shape, static_cast<size_t>(spec.ndim)));
  }
  for (const DLTensor* array : arrays) {
    difference.called.specs += SpecText(array->dtype, TensorShape(*array));
  }
  difference.arguments = TextOf(args);
  Comparison::Global().Add(std::move(difference));
}

void CompareError(const MXNetFuncInfo& info, const MXNetArgs& args) {
  const Error error = Error::FromLast();
  Difference difference{info.name, "", LastOutcome(), {}};
  const Inferred inferred(args.func, args.values, args.type_codes, args.num_args);
  if (inferred.status != 0) {
    difference.inferred = LastOutcome();
  } else {
    difference.inferred.specs = "no error";
  }
  error.SetLast();
  const bool is_same = inferred.status != 0 && difference.inferred.kind == difference.called.kind &&
                       difference.inferred.message == difference.called.message;
  if (is_same) return;
  difference.arguments = TextOf(args);
  Comparison::Global().Add(std::move(difference));
}

void Compare(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
             int num_args, int status, const MXNetValue* ret, int ret_type_code) {
  const MXNetFuncInfo* info = nullptr;
  if (MXNetFuncGetInfo(func, &info) != 0 || info->op == nullptr) return;
  Comparison::Global().Count(info->name);
  const MXNetArgs args{values, type_codes, num_args, func};
  try {
    if (status == 0) {
      CompareResult(*info, args, *ret, ret_type_code);
    } else {
      CompareError(*info, args);
    }
  } catch (const std::exception& error) {
    Comparison::Global().Add({info->name, "", {}, {"", "the comparison", error.what()}});
  }
}

MXNET_REGISTER_API("testing.infer_observe")
    .describe("Compares each call of an operator with what infer tells of it, or no longer does.")
    .add_argument("on", "bool", "Which of the two.")
    .set_body_typed([](bool on) { MXNetFuncSetObserver(on ? &Compare : nullptr); });

MXNET_REGISTER_API("testing.infer_differences")
    .describe(
        "The calls that infer tells something else of, since this was asked last: name, arguments, "
        "and twice, of the call and of infer, specs, kind of error and message.")
    .returns("tuple[tuple[str, ...], ...]")
    .set_body_typed([] {
      std::vector<Any> rows;
      for (const Difference& one : Comparison::Global().TakeDifferences()) {
        std::vector<Any> row;
        for (const std::string* text :
             {&one.name, &one.arguments, &one.called.specs, &one.called.kind, &one.called.message,
              &one.inferred.specs, &one.inferred.kind, &one.inferred.message}) {
          row.push_back(details::ToAny(*text));
        }
        rows.push_back(details::ToAny(Tuple(std::move(row))));
      }
      return Tuple(std::move(rows));
    });

MXNET_REGISTER_API("testing.infer_is_operator")
    .describe("Whether a function is an operator.")
    .add_argument("func", "ffi.Function", "The function.")
    .returns("bool")
    .set_body_typed([](const PackedFunc& func) {
      const MXNetFuncInfo* info = nullptr;
      MXNET_CHECK_CALL(MXNetFuncGetInfo(func.get(), &info));
      return info->op != nullptr;
    });

MXNET_REGISTER_API("testing.infer_calls")
    .describe("How many calls of each operator have been compared.")
    .returns("dict[str, int]")
    .set_body_typed([] { return Comparison::Global().calls(); });

}  // namespace
}  // namespace testing
