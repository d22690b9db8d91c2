#include "gemm.h"

#include <clblast_c.h>

#include <algorithm>

namespace opencl {
namespace {

/*! \brief Tensors of a product, as the strides of its axes are ordered. */
enum Tensor { kOut, kA, kB };

/*! \brief The smallest extent, and the smallest number of multiplications, for CLBlast. */
constexpr int64_t kMinExtent = 8;
constexpr int64_t kMinWork = 32768;

void CheckBlast(CLBlastStatusCode code, const char* call) {
  if (code == CLBlastSuccess) return;
  constexpr int kLastOfOpenCL = -1000;  // below it they are CLBlast's own
  if (code > kLastOfOpenCL) Check(static_cast<cl_int>(code), call);
  throw Failure(kMXAccFailed, std::string(call) + ": status " + std::to_string(code));
}

struct Parameters {
  const char* kernel;
  std::vector<const char*> names;
  std::vector<size_t> values;
};

/*! \brief Smaller tiles than CLBlast has for a CPU it was not tuned on: as fast, and compiled in
 * half the time. */
void ChooseSmallTiles(cl_device_id device) {
  Parameters all[] = {
      {"XgemmDirect",
       {"WGD", "MDIMCD", "NDIMCD", "MDIMAD", "NDIMBD", "KWID", "VWMD", "VWND", "PADA", "PADB"},
       {16, 8, 8, 8, 8, 2, 1, 1, 1, 1}},
      {"Xgemm",
       {"GEMMK", "KREG", "MWG", "NWG", "KWG", "MDIMC", "NDIMC", "MDIMA", "NDIMB", "KWI", "VWM",
        "VWN", "STRM", "STRN", "SA", "SB"},
       {0, 1, 32, 32, 16, 8, 8, 8, 8, 2, 4, 4, 0, 0, 0, 0}},
  };
  for (Parameters& one : all) {
    for (CLBlastPrecision precision : {CLBlastPrecisionSingle, CLBlastPrecisionDouble}) {
      // Where it fails CLBlast goes by its own choice.
      CLBlastOverrideParameters(device, one.kernel, precision, one.names.size(), one.names.data(),
                                one.values.data());
    }
  }
}

void Append(Axes* to, const Axes& from) {
  for (size_t i = 0; i < from.shape.size(); ++i) {
    to->Add(from.shape[i], {from.strides[0][i], from.strides[1][i], from.strides[2][i]});
  }
}

/*! \brief The strides of two tensors along axes that are one; false where they are not. */
bool JoinToOne(const Axes& axes, Tensor first, Tensor second, int64_t* steps) {
  const int64_t* const strides[] = {axes.strides[first].data(), axes.strides[second].data()};
  const JoinedAxes joined =
      JoinAxes(static_cast<int32_t>(axes.shape.size()), axes.shape.data(), strides, 2);
  if (joined.ndim > 1) return false;
  steps[first] = joined.ndim == 0 ? 1 : joined.strides[0][0];
  steps[second] = joined.ndim == 0 ? 1 : joined.strides[1][0];
  return true;
}

/*! \brief One matrix of a product, which is copied into dense rows if CLBlast cannot take it. */
struct Matrix {
  Tensor tensor;
  int64_t rows;
  int64_t columns;
  bool direct;
  bool transposed{false};
  int64_t leading{0};
  Axes dense{2}; /*!< of the dense matrix and the tensor, where it is not direct */

  Matrix(Tensor of, const Axes& row_axes, const Axes& column_axes, const int64_t* row_steps,
         const int64_t* column_steps)
      : tensor(of), rows(row_axes.count()), columns(column_axes.count()) {
    const bool joined = row_steps != nullptr && column_steps != nullptr;
    direct = joined && Fits(row_steps[of], column_steps[of]);
    if (direct) return;
    transposed = false;
    leading = columns;
    int64_t step = rows * columns;
    for (const Axes* axes : {&row_axes, &column_axes}) {
      for (size_t i = 0; i < axes->shape.size(); ++i) {
        step /= axes->shape[i];
        dense.Add(axes->shape[i], {step, axes->strides[of][i]});
      }
    }
  }

 private:
  bool Fits(int64_t row_step, int64_t column_step) {
    if (column_step == 1 && row_step >= columns) {
      leading = row_step;
      return true;
    }
    transposed = true;
    leading = column_step;
    // The output is written as it is.
    return tensor != kOut && row_step == 1 && column_step >= rows;
  }
};

class GemmWork : public Work {
 public:
  GemmWork(const Request& request, const ProductAxes& axes);
  void Run(Commands* commands, const Place* places) override;

 private:
  static std::vector<Matrix> Matrices(const ProductAxes& axes);
  void RunOne(Commands* commands, const Place* places, const Place* rooms) const;
  void Multiply(Commands* commands, Place out, Place a, Place b) const;

  const bool is_double_;
  const int64_t item_;
  const Axes batch_;
  const std::vector<Matrix> matrices_;
};

std::vector<Matrix> GemmWork::Matrices(const ProductAxes& axes) {
  int64_t row_steps[3] = {};
  int64_t column_steps[3] = {};
  int64_t summed_steps[3] = {};
  const bool rows = JoinToOne(axes.rows, kOut, kA, row_steps);
  const bool columns = JoinToOne(axes.columns, kOut, kB, column_steps);
  const bool summed = JoinToOne(axes.summed, kA, kB, summed_steps);
  const int64_t* of_rows = rows ? row_steps : nullptr;
  const int64_t* of_columns = columns ? column_steps : nullptr;
  const int64_t* of_summed = summed ? summed_steps : nullptr;
  return {Matrix(kOut, axes.rows, axes.columns, of_rows, of_columns),
          Matrix(kA, axes.rows, axes.summed, of_rows, of_summed),
          Matrix(kB, axes.summed, axes.columns, of_summed, of_columns)};
}

GemmWork::GemmWork(const Request& request, const ProductAxes& axes)
    : is_double_(request.output().dtype.bits == 64),
      item_(ItemSize(request.output().dtype)),
      batch_(axes.batch),
      matrices_(Matrices(axes)) {
  const Device& device = request.device();
  if (device.traits.type == CL_DEVICE_TYPE_CPU) ChooseSmallTiles(device.id);
}

void GemmWork::Multiply(Commands* commands, Place out, Place a, Place b) const {
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  const auto flip = [](const Matrix& matrix) {
    return matrix.transposed ? CLBlastTransposeYes : CLBlastTransposeNo;
  };
  const Matrix& left = matrices_[kA];
  const Matrix& right = matrices_[kB];
  const size_t m = size(left.rows);
  const size_t n = size(right.columns);
  const size_t k = size(left.columns);
  cl_command_queue queue = commands->queue();
  if (is_double_) {
    return CheckBlast(
        CLBlastDgemm(CLBlastLayoutRowMajor, flip(left), flip(right), m, n, k, 1.0, a.buffer,
                     size(a.first), size(left.leading), b.buffer, size(b.first),
                     size(right.leading), 0.0, out.buffer, size(out.first),
                     size(matrices_[kOut].leading), &queue, commands->NextEvent()),
        "CLBlastDgemm");
  }
  CheckBlast(CLBlastSgemm(CLBlastLayoutRowMajor, flip(left), flip(right), m, n, k, 1.0f, a.buffer,
                          size(a.first), size(left.leading), b.buffer, size(b.first),
                          size(right.leading), 0.0f, out.buffer, size(out.first),
                          size(matrices_[kOut].leading), &queue, commands->NextEvent()),
             "CLBlastSgemm");
}

void GemmWork::RunOne(Commands* commands, const Place* places, const Place* rooms) const {
  Place used[3];
  for (int i : {kOut, kA, kB}) {
    used[i] = matrices_[static_cast<size_t>(i)].direct ? places[i] : rooms[i];
  }
  for (int i : {kA, kB}) {
    const Matrix& matrix = matrices_[static_cast<size_t>(i)];
    if (!matrix.direct) CopyOnDevice(commands, item_, matrix.dense, rooms[i], places[i]);
  }
  Multiply(commands, used[kOut], used[kA], used[kB]);
  const Matrix& out = matrices_[kOut];
  if (out.direct) return;
  Axes back(2);
  back.shape = out.dense.shape;
  back.strides = {out.dense.strides[1], out.dense.strides[0]};
  CopyOnDevice(commands, item_, back, places[kOut], rooms[kOut]);
}

void GemmWork::Run(Commands* commands, const Place* places) {
  commands->device().gemms.fetch_add(1, std::memory_order_relaxed);
  std::vector<Buffer> buffers;
  Place rooms[3] = {};
  for (const Matrix& matrix : matrices_) {
    if (matrix.direct) continue;
    buffers.push_back(MakeBuffer(commands->device().context(),
                                 static_cast<size_t>(matrix.rows * matrix.columns * item_)));
    rooms[matrix.tensor] = {buffers.back().get(), 0};
  }
  Place at[3] = {places[2], places[0], places[1]};  // inputs come in the order of parameters
  std::vector<int64_t> index(batch_.shape.size());
  for (int64_t left = batch_.count(); left > 0; --left) {
    RunOne(commands, at, rooms);
    for (size_t axis = index.size(); axis-- > 0;) {
      const bool ends = ++index[axis] == batch_.shape[axis];
      for (size_t i = 0; i < 3; ++i) {
        at[i].first += batch_.strides[i][axis] * (ends ? 1 - batch_.shape[axis] : 1);
      }
      if (!ends) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

bool IsWorthGemm(const ProductAxes& axes) {
  const int64_t rows = axes.rows.count();
  const int64_t columns = axes.columns.count();
  return rows >= kMinExtent && columns >= kMinExtent &&
         rows * columns * axes.summed.count() >= kMinWork;
}

std::unique_ptr<Work> MakeGemm(const Request& request, ProductAxes axes) {
  const std::vector<int64_t>& of_b = axes.batch.strides[kB];
  if (std::all_of(of_b.begin(), of_b.end(), [](int64_t step) { return step == 0; })) {
    Append(&axes.batch, axes.rows);
    axes.rows = std::move(axes.batch);
    axes.batch = Axes(3);
  }
  return std::make_unique<GemmWork>(request, axes);
}

void ForgetGemms() { CLBlastClearCache(); }

}  // namespace opencl
