/*!
 * \file products.cc
 * \brief Sums of products: matmul, and the contractions that are one matrix product.
 */
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "operators.h"
#include "passes.h"

namespace onednn {
namespace {

/*! \brief The operands' elements are at a and b; all axes but the last two are of the batch. */
struct Matrices {
  Array a;   /*!< (..., m, k) */
  Array b;   /*!< (..., k, n) */
  Array out; /*!< (..., m, n) */
};

MXAccDataType ProductType(const Array& a, const Array& b) {
  if (!IsFloat(a.dtype) || !SameType(a.dtype, b.dtype)) {
    Unsupported("other types than two arrays of float32, float16 or bfloat16");
  }
  return a.dtype;
}

[[noreturn]] void NotAligned() {
  throw Failure(kMXAccBadArgument, "the shapes do not go together");
}

/*! \brief A matrix, or a dense copy of it. */
Array Readable(const Array& x, bool copied, Plan* plan) {
  if (!copied) return x;
  Array dense = plan->Scratch(x.dtype, x.shape);
  plan->Copy(x, dense);
  return dense;
}

bool IsForward(const Array& x) {
  return std::all_of(x.strides.begin(), x.strides.end(), [](int64_t step) { return step >= 0; });
}

/*! \brief Axes by which a batch broadcasts have extent 1 for oneDNN. */
Array Narrow(Array x) {
  for (size_t i = 0; i + 2 < x.shape.size(); ++i) {
    if (x.strides[i] == 0) x.shape[i] = 1;
  }
  return x;
}

/*! \brief Whether oneDNN takes a matrix by its strides at all. */
bool IsPlain(const Array& x) {
  const size_t rows = x.shape.size() - 2;
  for (size_t i = rows; i < x.shape.size(); ++i) {
    if (x.shape[i] != 1 && x.strides[i] == 0) return false;
  }
  return IsForward(x);
}

void AddMatrixProduct(const Matrices& given, Plan* plan) {
  const Array out = given.out;
  const size_t ndim = out.shape.size();
  if (ndim > DNNL_MAX_NDIMS) Unsupported("so many axes");
  if (given.a.shape[ndim - 1] == 0) {
    return plan->Copy(plan->Constant(out.dtype, 0, out.shape), out);
  }
  const Array target = IsDense(out) ? out : plan->Scratch(out.dtype, out.shape);
  const Array b = Narrow(given.b);
  Array a = Narrow(given.a);
  // oneDNN rejects a product where both operands broadcast along a batch axis.
  for (size_t i = 0; i + 2 < ndim; ++i) {
    if (b.shape[i] == 1) a.shape[i] = out.shape[i];
  }
  for (const auto& [copy_a, copy_b] : {std::pair(false, false), std::pair(true, false),
                                       std::pair(false, true), std::pair(true, true)}) {
    if ((!copy_a && !IsPlain(a)) || (!copy_b && !IsPlain(b))) continue;
    const dnnl::matmul::primitive_desc desc(
        Engine(), copy_a ? DenseDesc(a.dtype, a.shape) : DescOf(a),
        copy_b ? DenseDesc(b.dtype, b.shape) : DescOf(b), DescOf(target), AttributesWith(), true);
    if (!IsFast(desc)) continue;
    plan->Add(desc, dnnl::matmul(desc),
              {{DNNL_ARG_SRC, Readable(a, copy_a, plan)},
               {DNNL_ARG_WEIGHTS, Readable(b, copy_b, plan)},
               {DNNL_ARG_DST, target}});
    if (!IsDense(out)) plan->Copy(target, out);
    return;
  }
  Unsupported("oneDNN has only its reference code for such matrices on this processor");
}

void CheckOutput(const Array& out, MXAccDataType dtype, const Dims& shape) {
  if (!SameType(out.dtype, dtype)) Unsupported("an output of another type than the result's");
  if (out.shape != shape) NotAligned();
}

/* ---- matmul ---- */

/*! \brief Appends an axis of extent 1, or puts it at a position. */
void InsertAxis(Array* x, size_t position) {
  x->shape.insert(x->shape.begin() + static_cast<std::ptrdiff_t>(position), 1);
  x->strides.insert(x->strides.begin() + static_cast<std::ptrdiff_t>(position), 1);
}

/*! \brief The batches of all three as few axes; rows of one matrix where b is one matrix. */
void JoinBatch(Matrices* matrices) {
  Matrices& m = *matrices;
  const size_t rows = m.out.shape.size() - 2;
  std::vector<Array> batches;
  for (const Array* x : {&m.out, &m.a, &m.b}) {
    Array& batch = batches.emplace_back(*x);
    batch.shape.resize(rows);
    batch.strides.resize(rows);
  }
  batches = Joined(batches);
  if (batches[0].shape.size() == 1 && batches[0].shape[0] == 1) {
    for (Array& batch : batches) batch.shape = batch.strides = {};
  }
  const auto replace = [&](Array* x, const Array& batch) {
    x->shape.erase(x->shape.begin(), x->shape.begin() + static_cast<std::ptrdiff_t>(rows));
    x->strides.erase(x->strides.begin(), x->strides.begin() + static_cast<std::ptrdiff_t>(rows));
    x->shape.insert(x->shape.begin(), batch.shape.begin(), batch.shape.end());
    x->strides.insert(x->strides.begin(), batch.strides.begin(), batch.strides.end());
  };
  replace(&m.out, batches[0]);
  replace(&m.a, batches[1]);
  replace(&m.b, batches[2]);
  if (m.out.shape.size() != 3 || m.b.strides[0] != 0) return;
  const int64_t count = m.a.shape[1];
  if (m.a.strides[0] != count * m.a.strides[1] || m.out.strides[0] != count * m.out.strides[1]) {
    return;
  }
  for (Array* x : {&m.out, &m.a}) {
    x->shape[1] *= x->shape[0];
    x->shape.erase(x->shape.begin());
    x->strides.erase(x->strides.begin());
  }
  m.b.shape.erase(m.b.shape.begin());
  m.b.strides.erase(m.b.strides.begin());
}

void AddMatMul(const MXAccOperator& op, Plan* plan) {
  if (op.num_in != 2) Unsupported("numbers");
  Matrices m{InputOf(op, 0), InputOf(op, 1), TheOutput(op)};
  CheckOutput(m.out, ProductType(m.a, m.b), m.out.shape);
  if (m.a.shape.empty() || m.b.shape.empty()) NotAligned();
  const bool is_row = m.a.shape.size() == 1;
  const bool is_column = m.b.shape.size() == 1;
  if (is_row) InsertAxis(&m.a, 0);
  if (is_column) InsertAxis(&m.b, 1);
  if (is_row) InsertAxis(&m.out, m.out.shape.size() - (is_column ? 0 : 1));
  if (is_column) InsertAxis(&m.out, m.out.shape.size());
  const size_t rows = m.out.shape.size() - 2;
  const auto matrix_of = [](const Array& x) {
    return std::pair(x.shape[x.shape.size() - 2], x.shape[x.shape.size() - 1]);
  };
  const auto [m_rows, m_inner] = matrix_of(m.a);
  const auto [inner, columns] = matrix_of(m.b);
  if (m_inner != inner || matrix_of(m.out) != std::pair(m_rows, columns)) NotAligned();
  for (Array* x : {&m.a, &m.b}) {
    Dims shape = m.out.shape;
    std::copy_n(x->shape.end() - 2, 2, shape.begin() + static_cast<std::ptrdiff_t>(rows));
    const Dims last(x->strides.end() - 2, x->strides.end());
    *x = Broadcast(*x, shape);
    std::copy_n(last.begin(), 2, x->strides.begin() + static_cast<std::ptrdiff_t>(rows));
  }
  JoinBatch(&m);
  AddMatrixProduct(m, plan);
}

/* ---- contractions ---- */

using Axes = std::vector<size_t>;

Axes AllBut(size_t ndim, const Axes& left_out) {
  Axes axes;
  for (size_t i = 0; i < ndim; ++i) {
    if (std::find(left_out.begin(), left_out.end(), i) == left_out.end()) axes.push_back(i);
  }
  return axes;
}

/*! \brief The array with its axes in that order. */
Array Permuted(const Array& x, const Axes& first, const Axes& second) {
  Array permuted{x.location, x.dtype, {}, {}};
  for (const Axes* axes : {&first, &second}) {
    for (const size_t axis : *axes) {
      permuted.shape.push_back(x.shape[axis]);
      permuted.strides.push_back(x.strides[axis]);
    }
  }
  return permuted;
}

/*! \brief The axes from begin on, before end. */
Array AxesBetween(const Array& x, size_t begin, size_t end) {
  const auto first = static_cast<std::ptrdiff_t>(begin);
  const auto last = static_cast<std::ptrdiff_t>(end);
  return Array{x.location, x.dtype, Dims(x.shape.begin() + first, x.shape.begin() + last),
               Dims(x.strides.begin() + first, x.strides.begin() + last)};
}

/*! \brief Joins the first `count` axes into one and the others into another, without changing
 * their order; false where strides do not allow it. */
bool JoinInto2(Array* x, size_t count) {
  Array joined{x->location, x->dtype, {}, {}};
  for (const Array& side : {AxesBetween(*x, 0, count), AxesBetween(*x, count, x->shape.size())}) {
    const Array merged = Merged(side);
    if (merged.shape.size() > 1) return false;
    joined.shape.push_back(merged.shape.empty() ? 1 : merged.shape[0]);
    joined.strides.push_back(merged.shape.empty() ? 1 : merged.strides[0]);
  }
  *x = joined;
  return true;
}

/*! \brief A matrix of an array whose first `count` axes are its rows. */
Array MatrixOf(Array x, size_t count, Plan* plan) {
  if (JoinInto2(&x, count)) return x;
  x = plan->Dense(x);
  JoinInto2(&x, count);
  return x;
}

void AddContraction(const Array& a, const Axes& a_axes, const Array& b, const Axes& b_axes,
                    const MXAccOperator& op, Plan* plan) {
  const Axes a_free = AllBut(a.shape.size(), a_axes);
  const Axes b_free = AllBut(b.shape.size(), b_axes);
  Dims shape;
  for (const size_t axis : a_free) shape.push_back(a.shape[axis]);
  for (const size_t axis : b_free) shape.push_back(b.shape[axis]);
  Array out = TheOutput(op);
  CheckOutput(out, ProductType(a, b), shape);
  for (size_t i = 0; i < a_axes.size(); ++i) {
    if (a.shape[a_axes[i]] != b.shape[b_axes[i]]) NotAligned();
  }
  const Array dense = IsDense(out) ? out : plan->Scratch(out.dtype, out.shape);
  Array target = dense;
  target.strides = DenseStrides(target.shape);
  if (SizeOf(a.shape) == 0) {
    return plan->Copy(plan->Constant(out.dtype, 0, out.shape), out);
  }
  JoinInto2(&target, a_free.size());
  AddMatrixProduct({MatrixOf(Permuted(a, a_free, a_axes), a_free.size(), plan),
                    MatrixOf(Permuted(b, b_axes, b_free), b_axes.size(), plan), target},
                   plan);
  if (!IsDense(out)) plan->Copy(dense, out);
}

Axes AxesOf(const AttributeValue& value, size_t ndim) {
  const std::vector<AttributeValue> single{value};
  const bool is_array = value.kind == AttributeValue::Kind::kArray;
  Axes axes;
  for (const AttributeValue& item : is_array ? value.items : single) {
    if (item.kind != AttributeValue::Kind::kInt) Unsupported("axes that are no integers");
    const int64_t axis =
        item.integer < 0 ? item.integer + static_cast<int64_t>(ndim) : item.integer;
    if (axis < 0 || axis >= static_cast<int64_t>(ndim)) Unsupported("axes that are not there");
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) Unsupported("axes that repeat");
    axes.push_back(static_cast<size_t>(axis));
  }
  return axes;
}

void AddTensorDot(const MXAccOperator& op, Plan* plan) {
  if (op.num_in != 2) Unsupported("other operands than two arrays");
  const Array a = InputOf(op, 0);
  const Array b = InputOf(op, 1);
  const std::optional<AttributeValue> axes = FindAttribute(op, "axes");
  if (axes && axes->kind == AttributeValue::Kind::kArray) {
    if (axes->items.size() != 2) Unsupported("axes that are no pair");
    const Axes a_axes = AxesOf(axes->items[0], a.shape.size());
    const Axes b_axes = AxesOf(axes->items[1], b.shape.size());
    if (a_axes.size() != b_axes.size()) Unsupported("axes that are no pairs");
    return AddContraction(a, a_axes, b, b_axes, op, plan);
  }
  if (axes && axes->kind != AttributeValue::Kind::kInt) Unsupported("axes that are no integers");
  const auto count = static_cast<size_t>(std::max<int64_t>(axes ? axes->integer : 2, 0));
  if (count > a.shape.size() || count > b.shape.size()) Unsupported("axes that are not there");
  Axes a_axes;
  Axes b_axes;
  for (size_t i = 0; i < count; ++i) {
    a_axes.push_back(a.shape.size() - count + i);
    b_axes.push_back(i);
  }
  AddContraction(a, a_axes, b, b_axes, op, plan);
}

/*! \brief Over the last axis of a and one of b, counted from its end. */
void AddOverLast(size_t b_axis_from_end, const MXAccOperator& op, Plan* plan) {
  if (op.num_in != 2) Unsupported("numbers");
  const Array a = InputOf(op, 0);
  const Array b = InputOf(op, 1);
  if (a.shape.empty() || b.shape.empty()) {
    const Array out = TheOutput(op);
    CheckOutput(out, ProductType(a, b), a.shape.empty() ? b.shape : a.shape);
    return AddBinaryPass({algorithm::binary_mul, {}}, Broadcast(a, out.shape),
                         Broadcast(b, out.shape), out, plan);
  }
  const size_t b_ndim = b.shape.size();
  const size_t b_axis = b_ndim < b_axis_from_end ? 0 : b_ndim - b_axis_from_end;
  AddContraction(a, {a.shape.size() - 1}, b, {b_axis}, op, plan);
}

void AddDot(const MXAccOperator& op, Plan* plan) { AddOverLast(2, op, plan); }
void AddInner(const MXAccOperator& op, Plan* plan) { AddOverLast(1, op, plan); }

/*! \brief All elements of both, in row-major order, as one axis. */
void AddFlatProduct(bool summed, const MXAccOperator& op, Plan* plan) {
  if (op.num_in != 2) Unsupported("numbers");
  Array flat[2];
  for (int32_t i = 0; i < 2; ++i) {
    flat[i] = plan->Dense(InputOf(op, i));
    flat[i].shape = {SizeOf(flat[i].shape)};
    flat[i].strides = {1};
  }
  const Axes axes = summed ? Axes{0} : Axes{};
  AddContraction(flat[0], axes, flat[1], axes, op, plan);
}

void AddOuter(const MXAccOperator& op, Plan* plan) { AddFlatProduct(false, op, plan); }
void AddVDot(const MXAccOperator& op, Plan* plan) { AddFlatProduct(true, op, plan); }

/*! \brief Multiplications: of (m, k) and (k, n), m*k * k*n * m*n is the square of their number. */
int64_t WorkOf(const MXAccOperator& op) {
  constexpr double kAtOnce = 16;
  double square = 1;
  for (int32_t i = 0; i < op.num_in; ++i) {
    square *= static_cast<double>(SizeOf(InputOf(op, i).shape));
  }
  square *= static_cast<double>(SizeOf(TheOutput(op).shape));
  return static_cast<int64_t>(std::min(std::sqrt(square) / kAtOnce, 1e15));
}

constexpr Entry kEntries[] = {
    {"dot", AddDot},     {"inner", AddInner},         {"matmul", AddMatMul},
    {"outer", AddOuter}, {"tensordot", AddTensorDot}, {"vdot", AddVDot},
};

}  // namespace

Family Products() { return {kEntries, std::size(kEntries), 0, WorkOf}; }

}  // namespace onednn
