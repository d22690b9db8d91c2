/*!
 * \file loops.h
 * \brief Conversions that oneDNN does fast, and right, only on some processors.
 */
#ifndef ONEDNN_LOOPS_H_
#define ONEDNN_LOOPS_H_

#include <mxnet_acc.h>

#include <cstdint>

namespace onednn {

/*! \brief Converts that many dense elements. */
using Loop = void (*)(const void* from, void* to, int64_t count);

/*! \brief Between float32, float16 and bfloat16 on one side and bool, or float32, on the other;
 * nullptr for other types. */
Loop LoopFor(MXAccDataType from, MXAccDataType to);

}  // namespace onednn

#endif  // ONEDNN_LOOPS_H_
