"""What the tests of ffi.cpp compile: plain C, which compiles at once."""

C_SOURCE = """
#include <mxnet/runtime/c_runtime_api.h>
#include "value.h"

#ifndef NAME
#define NAME "value.f"
#endif

static int value(void* resource, const MXNetValue* args, const int* codes, int count,
                 MXNetValue* ret, int* ret_code) {
  (void)resource, (void)args, (void)codes, (void)count;
  ret->v_int64 = VALUE;
  *ret_code = kMXNetInt;
  return 0;
}

int MXNetLibraryInit(void) {
  MXNetFunctionHandle func;
  if (MXNetFuncCreateFromCFunc(&value, NULL, NULL, &func) != 0) return -1;
  const int status = MXNetFuncRegisterGlobal(NAME, func, 0);
  MXNetFuncFree(func);
  return status;
}
"""

# A compiler that notes each run, and takes a while.
SLOW = '#!/bin/sh\necho run >>"{log}"\nsleep {seconds}\nexec cc "$@"\n'


def flags(name: str, *more: str) -> dict:
    return {"extra_cflags": [f'-DNAME="{name}"', *more]}
