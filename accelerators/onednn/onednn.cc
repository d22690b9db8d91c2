/*!
 * \file onednn.cc
 * \brief The entry of the library, and the members of the table that are about all of it.
 */
#include <mxnet_acc.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "../common/library.h"
#include "../common/status.h"
#include "library.h"
#include "operators.h"
#include "threads.h"

namespace onednn {
namespace {

constexpr char kRelease[] = "1.0";
constexpr int kMaxThreads = 1024;
constexpr int kMaxVerbose = 2;

MXAccStatus GetAccName(char* name, size_t size) {
  return StatusOf([&] { WriteName("onednn", name, size); });
}

MXAccStatus GetNumAcc(int32_t* count) {
  *count = 1;
  return nullptr;
}

MXAccStatus Initialize(const MXAccHost*) {
  return StatusOf([] { MakeLibrary(); });
}

void Finalize() { DropLibrary(); }

MXAccStatus GetDeviceInfo(int32_t dev_id, MXAccDeviceInfo* info) {
  return StatusOf([&] {
    CheckDevice(dev_id);
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    MXAccDeviceInfo told{};
    told.flags = kMXAccHostVisible | kMXAccStrides;
    told.alignment = 64;
    told.memory_total = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
    told.memory_free = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
    told.name = "CPU";
    told.vendor = "oneDNN";
    told.driver = TheLibrary().driver.c_str();
    FillDeviceInfo(told, info);
  });
}

int ReadCount(const char* key, const char* text, int least, int most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most) {
    throw Failure(kMXAccBadArgument, std::string("configure: ") + key +
                                         ": expected an integer from " + std::to_string(least) +
                                         " to " + std::to_string(most) + ", got '" + text + "'");
  }
  return static_cast<int>(value);
}

void EmitState(MXAccEmit emit, void* context) {
  const Library& library = TheLibrary();
  Emit(emit, context, "threads", std::to_string(ThreadLimit()));
  Emit(emit, context, "verbose", std::to_string(library.verbose.load()));
  Emit(emit, context, "version", library.version);
  Emit(emit, context, "isa", library.isa);
  Emit(emit, context, "operators", OperatorNames());
  Emit(emit, context, "live", std::to_string(library.memory.live()));
  Emit(emit, context, "bytes", std::to_string(library.memory.bytes()));
  Emit(emit, context, "runs", std::to_string(library.runs.load()));
}

MXAccStatus Configure(int32_t dev_id, const char* const* in_keys, const char* const* in_vals,
                      int32_t num_in, MXAccEmit emit, void* context) {
  return StatusOf([&] {
    CheckDevice(dev_id);
    Library& library = TheLibrary();
    int threads = ThreadLimit();
    int verbose = library.verbose.load();
    for (int32_t i = 0; i < num_in; ++i) {
      if (std::strcmp(in_keys[i], "threads") == 0) {
        threads = ReadCount("threads", in_vals[i], 1, kMaxThreads);
      } else if (std::strcmp(in_keys[i], "verbose") == 0) {
        verbose = ReadCount("verbose", in_vals[i], 0, kMaxVerbose);
      } else {
        throw Failure(kMXAccBadArgument, std::string("configure: there is no keyword '") +
                                             in_keys[i] + "'; known are threads, verbose");
      }
    }
    SetThreadLimit(threads);
    library.verbose = verbose;
    dnnl_set_verbose(verbose);
    EmitState(emit, context);
  });
}

}  // namespace
}  // namespace onednn

MXAccStatus mxacc_get_api(const MXAccHost*, MXAccApi* api) {
  MXAccApi table{};
  table.abi_major = MXACC_ABI_MAJOR;
  table.abi_minor = MXACC_ABI_MINOR;
  table.release = onednn::kRelease;
  table.getAccName = onednn::GetAccName;
  table.getNumAcc = onednn::GetNumAcc;
  table.initialize = onednn::Initialize;
  table.finalize = onednn::Finalize;
  table.getDeviceInfo = onednn::GetDeviceInfo;
  table.configure = onednn::Configure;
  onednn::SetMemoryFunctions(&table);
  onednn::SetOperatorFunctions(&table);
  mxacc::FillTable(table, api);
  return nullptr;
}
