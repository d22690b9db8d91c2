#include "gemm.h"

#include <clblast_c.h>

#include <algorithm>

namespace opencl {
namespace {

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
      // If this fails, CLBlast keeps its own parameters.
      CLBlastOverrideParameters(device, one.kernel, precision, one.names.size(), one.names.data(),
                                one.values.data());
    }
  }
}

class GemmWork : public Work {
 public:
  GemmWork(const Request& request, const ProductAxes& axes);
  void Run(Commands* commands, const Location* locations) override;
  uint64_t workspace_bytes() const override { return rooms_.bytes; }

 private:
  void RunOne(Commands* commands, const Location* locations, const Location* rooms) const;
  void Multiply(Commands* commands, Location out, Location a, Location b) const;

  const bool is_double_;
  const int64_t item_;
  const MatrixProduct product_;
  const MatrixRooms rooms_;
};

GemmWork::GemmWork(const Request& request, const ProductAxes& axes)
    : is_double_(request.output().dtype.bits == 64),
      item_(ItemSize(request.output().dtype)),
      product_(AsMatrices(axes)),
      rooms_(product_, 1, item_) {
  const Device& device = request.device();
  if (device.traits.type == CL_DEVICE_TYPE_CPU) ChooseSmallTiles(device.id);
}

void GemmWork::Multiply(Commands* commands, Location out, Location a, Location b) const {
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  const auto flip = [](const Matrix& matrix) {
    return matrix.transposed ? CLBlastTransposeYes : CLBlastTransposeNo;
  };
  const Matrix& left = product_.matrices[kA];
  const Matrix& right = product_.matrices[kB];
  const size_t m = size(product_.rows());
  const size_t n = size(product_.columns());
  const size_t k = size(product_.summed());
  cl_command_queue queue = commands->queue();
  if (is_double_) {
    return CheckBlast(
        CLBlastDgemm(CLBlastLayoutRowMajor, flip(left), flip(right), m, n, k, 1.0, a.buffer,
                     size(a.first), size(left.leading), b.buffer, size(b.first),
                     size(right.leading), 0.0, out.buffer, size(out.first),
                     size(product_.matrices[kOut].leading), &queue, commands->NextEvent()),
        "CLBlastDgemm");
  }
  CheckBlast(CLBlastSgemm(CLBlastLayoutRowMajor, flip(left), flip(right), m, n, k, 1.0f, a.buffer,
                          size(a.first), size(left.leading), b.buffer, size(b.first),
                          size(right.leading), 0.0f, out.buffer, size(out.first),
                          size(product_.matrices[kOut].leading), &queue, commands->NextEvent()),
             "CLBlastSgemm");
}

void GemmWork::RunOne(Commands* commands, const Location* locations, const Location* rooms) const {
  Location used[3];
  for (int i : {kOut, kA, kB}) {
    used[i] = product_.matrices[i].direct ? locations[i] : rooms[i];
  }
  for (int i : {kA, kB}) {
    const Matrix& matrix = product_.matrices[i];
    if (!matrix.direct) CopyOnDevice(commands, item_, matrix.dense, rooms[i], locations[i]);
  }
  Multiply(commands, used[kOut], used[kA], used[kB]);
  const Matrix& out = product_.matrices[kOut];
  if (out.direct) return;
  Axes back(2);
  back.shape = out.dense.shape;
  back.strides = {out.dense.strides[1], out.dense.strides[0]};
  CopyOnDevice(commands, item_, back, locations[kOut], rooms[kOut]);
}

void GemmWork::Run(Commands* commands, const Location* locations) {
  commands->device().gemms.fetch_add(1, std::memory_order_relaxed);
  Location rooms[3] = {};
  for (int i : {kOut, kA, kB}) {
    if (product_.matrices[i].direct) continue;
    rooms[i] = {locations[3].buffer, locations[3].first / item_ + rooms_.offsets[i]};
  }
  Location at[3] = {locations[2], locations[0],
                    locations[1]};  // inputs come in the order of parameters
  std::vector<int64_t> index(product_.batch.shape.size());
  for (int64_t left = product_.batch.count(); left > 0; --left) {
    RunOne(commands, at, rooms);
    for (size_t axis = index.size(); axis-- > 0;) {
      const bool ends = ++index[axis] == product_.batch.shape[axis];
      for (size_t i = 0; i < 3; ++i) {
        at[i].first +=
            product_.batch.strides[i][axis] * (ends ? 1 - product_.batch.shape[axis] : 1);
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

std::unique_ptr<Work> MakeGemm(const Request& request, const ProductAxes& axes) {
  return std::make_unique<GemmWork>(request, axes);
}

void ForgetGemms() { CLBlastClearCache(); }

}  // namespace opencl
