/*!
 * \file product.cc
 * \brief Products: by cuBLAS, by a kernel for matrices, or as sums.
 */
#include "../sdk/operators/product.h"

#include "kernels/kernels.h"
#include "reduction.h"

namespace cudaacc {
namespace {

/*! \brief The smallest extent of matrices, and the smallest number of multiplications. */
constexpr int64_t kMinExtent = 8;
constexpr int64_t kMinWork = 32768;

bool IsWorthMatrices(const ProductAxes& axes) {
  const int64_t rows = axes.rows.count();
  const int64_t columns = axes.columns.count();
  return rows >= kMinExtent && columns >= kMinExtent &&
         rows * columns * axes.summed.count() >= kMinWork;
}

/*! \brief The axes of a batch that are one step apart for all tensors, and those around them. */
struct Batch {
  JoinedAxes axes;
  int64_t count;    /*!< of the innermost */
  int64_t steps[3]; /*!< of the innermost, in each tensor */
};

Batch BatchOf(const Axes& axes) {
  const int64_t* const strides[] = {axes.strides[0].data(), axes.strides[1].data(),
                                    axes.strides[2].data()};
  Batch batch{
      JoinAxes(static_cast<int32_t>(axes.shape.size()), axes.shape.data(), strides, 3), 1, {}};
  if (batch.axes.ndim == 0) return batch;
  const int inner = --batch.axes.ndim;
  batch.count = batch.axes.shape[inner];
  for (int i = 0; i < 3; ++i) batch.steps[i] = batch.axes.strides[i][inner];
  return batch;
}

class ProductWork : public Work {
 public:
  ProductWork(const Request& request, const Product& product);
  void Run(Commands* commands, const Location* locations) override;
  uint64_t workspace_bytes() const override { return rooms_.bytes; }

 private:
  /*! \brief Where the matrices of one run through the inner batch are. */
  struct Matrices {
    Location locations[3];
    int64_t steps[3]; /*!< from one to the next */
  };
  Matrices Gather(Commands* commands, const Location* locations, void* workspace) const;
  void Multiply(Commands* commands, const Matrices& matrices) const;
  bool MultiplyByBlas(Commands* commands, const Matrices& matrices) const;
  Axes PackedAxes(int tensor, bool packs) const;

  const int inputs_[2];
  const int output_;
  const DType dtype_;
  const int64_t item_;
  const MatrixProduct product_;
  const Batch batch_;
  const MatrixRooms rooms_;
};

ProductWork::ProductWork(const Request& request, const Product& product)
    : inputs_{product.a, product.b},
      output_(request.num_in()),
      dtype_(product.dtype),
      item_(ItemSize(request.output().dtype)),
      product_(AsMatrices(product.axes)),
      batch_(BatchOf(product_.batch)),
      rooms_(product_, batch_.count, item_) {}

/*! \brief The axes of the matrices of one inner batch, packed and as the tensor has them. */
Axes ProductWork::PackedAxes(int tensor, bool packs) const {
  const Matrix& matrix = product_.matrices[tensor];
  const int packed = packs ? 0 : 1;
  Axes axes(2);
  axes.shape = matrix.dense.shape;
  axes.strides[static_cast<size_t>(packed)] = matrix.dense.strides[0];
  axes.strides[static_cast<size_t>(1 - packed)] = matrix.dense.strides[1];
  const int64_t steps[] = {matrix.rows * matrix.columns, batch_.steps[tensor]};
  axes.Add(batch_.count, {steps[packed], steps[1 - packed]});
  return axes;
}

ProductWork::Matrices ProductWork::Gather(Commands* commands, const Location* locations,
                                          void* workspace) const {
  Matrices matrices;
  for (int i : {kOut, kA, kB}) {
    const Matrix& matrix = product_.matrices[i];
    matrices.locations[i] = matrix.direct ? locations[i] : Location{workspace, rooms_.offsets[i]};
    matrices.steps[i] = matrix.direct ? batch_.steps[i] : matrix.rows * matrix.columns;
    if (matrix.direct || i == kOut) continue;
    CopyOnDevice(commands, item_, PackedAxes(i, true), matrices.locations[i], locations[i]);
  }
  return matrices;
}

bool ProductWork::MultiplyByBlas(Commands* commands, const Matrices& matrices) const {
  BlasProduct product{};
  product.dtype = dtype_;
  product.rows = product_.rows();
  product.columns = product_.columns();
  product.summed = product_.summed();
  product.batch = batch_.count;
  BlasProduct::Matrix* const of[] = {&product.out, &product.a, &product.b};
  for (int i : {kOut, kA, kB}) {
    const Matrix& matrix = product_.matrices[i];
    *of[i] = {AddressOf(matrices.locations[i], item_), matrix.transposed, matrix.leading,
              matrices.steps[i]};
  }
  if (!product.fits()) return false;
  Device& device = commands->device();
  const bool done = device.WithBlas(
      [&](Blas& blas) { blas.Multiply(commands->stream(), product, device.allows_tf32); });
  if (done) device.gemms.fetch_add(1, std::memory_order_relaxed);
  return done;
}

void ProductWork::Multiply(Commands* commands, const Matrices& matrices) const {
  if (MultiplyByBlas(commands, matrices)) return;
  ProductTask task{};
  task.rows = product_.rows();
  task.columns = product_.columns();
  task.summed = product_.summed();
  task.batch = batch_.count;
  task.dtype = dtype_;
  ProductTask::Matrix* const of[] = {&task.out, &task.a, &task.b};
  for (int i : {kOut, kA, kB}) {
    const Matrix& matrix = product_.matrices[i];
    const Location& location = matrices.locations[i];
    *of[i] = {{location.data, location.first, dtype_},
              matrix.transposed ? 1 : matrix.leading,
              matrix.transposed ? matrix.leading : 1,
              matrices.steps[i]};
  }
  LaunchProduct(commands->stream(), task);
}

void ProductWork::Run(Commands* commands, const Location* locations) {
  void* workspace = rooms_.bytes == 0 ? nullptr : AddressOf(locations[output_ + 1], 1);
  Location at[3] = {locations[output_], locations[inputs_[0]], locations[inputs_[1]]};
  const JoinedAxes& around = batch_.axes;
  int64_t index[MXACC_MAX_DIMS] = {};
  for (int axis = 0; axis >= 0;) {
    const Matrices matrices = Gather(commands, at, workspace);
    Multiply(commands, matrices);
    if (!product_.matrices[kOut].direct) {
      CopyOnDevice(commands, item_, PackedAxes(kOut, false), at[kOut], matrices.locations[kOut]);
    }
    for (axis = around.ndim - 1; axis >= 0; --axis) {
      const bool ends = ++index[axis] == around.shape[axis];
      for (int i = 0; i < 3; ++i) {
        at[i].first += around.strides[i][axis] * (ends ? 1 - around.shape[axis] : 1);
      }
      if (!ends) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

std::unique_ptr<Work> MakeProduct(const Request& request) {
  const std::optional<Product> product = FindProduct(request);
  if (!product) return nullptr;
  const ProductAxes& axes = product->axes;
  const bool is_empty = axes.batch.count() * axes.summed.count() == 0;
  if (IsFloat(product->dtype) && product->of_a == product->of_b && !is_empty &&
      IsWorthMatrices(axes)) {
    return std::make_unique<ProductWork>(request, *product);
  }
  const bool is_bool = product->dtype == DType::kBool;
  const ReduceOptions options{is_bool ? ReduceKind::kAny : ReduceKind::kSum,
                              product->dtype,
                              product->dtype,
                              0,
                              true,
                              false};
  return MakeReduceWork(request, options, AsReduction(axes), product->a, product->b);
}

}  // namespace cudaacc
