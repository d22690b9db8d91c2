/*!
 * \file main.cc
 * \brief The program that has one accelerator library: mxnet_acc_server LIBRARY.
 *
 * mx.load_acc(path, isolate=True) starts it, with a socket and shared memory.
 */
#include <mxnet/runtime/c_runtime_api.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  MXNetFunctionHandle serve = nullptr;
  if (argc != 2 || MXNetFuncGetGlobal("mx.acc.serve", &serve) != 0 || serve == nullptr) {
    std::fprintf(stderr, "mxnet_acc_server: it is started by mx.load_acc(path, isolate=True)\n");
    return 2;
  }
  MXNetValue path;
  path.v_str = MXNetByteArray{argv[1], std::strlen(argv[1])};
  const int type_code = kMXNetStr;
  MXNetValue result;
  int result_code = kMXNetNull;
  if (MXNetFuncCall(serve, &path, &type_code, 1, &result, &result_code) == 0) return 0;
  const MXNetByteArray message = MXNetGetLastError()->message;
  std::fprintf(stderr, "mxnet_acc_server: %.*s\n", static_cast<int>(message.size), message.data);
  return 1;
}
