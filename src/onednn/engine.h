/*!
 * \file engine.h
 * \brief oneDNN's engine, its element types and its errors.
 */
#ifndef MXNET_SRC_ONEDNN_ENGINE_H_
#define MXNET_SRC_ONEDNN_ENGINE_H_

#include <mxnet/runtime/data_type.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace mxnet {
namespace onednn {

using dnnl::algorithm;
using runtime::operator==;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using DType = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

/*! \brief Of the CPU; there until the process has ended. */
const dnnl::engine& Engine();

/*! \brief Attributes of a primitive that several threads may run: each brings its own memory. */
dnnl::primitive_attr AttributesWith(const dnnl::post_ops& posts = {});

/*! \brief What oneDNN calls a type, uint8 for bool; NotImplementedError, naming the argument. */
DType TypeOf(DLDataType dtype, const std::string& argument);

/*! \brief TypeError, naming the argument, for a type that is none of the floats of 16 or 32 bits.
 */
void CheckFloat(DLDataType dtype, const std::string& argument);

int64_t SizeOf(const Dims& shape);

/*! \brief Nanoseconds of one thread, about, for so many multiplications with additions. */
inline double TimeOfProducts(double count) { return count / 25; }
/*! \brief The same for elements that are read, changed and written. */
inline double TimeOfElements(int64_t count) { return static_cast<double>(count) / 3; }
Dims RowMajorStrides(const Dims& shape);
/*! \brief "(2, 3)". */
std::string Text(const Dims& shape);

/*! \brief Row-major. */
Desc PlainDesc(const Dims& shape, DType type);
Desc AnyDesc(const Dims& shape, DType type);

/*! \brief The body's result; what oneDNN throws becomes an error of ours. */
template <typename Body>
auto Translated(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const dnnl::error& error) {
    const char* kind = error.status == dnnl_unimplemented       ? "NotImplementedError"
                       : error.status == dnnl_out_of_memory     ? "MemoryError"
                       : error.status == dnnl_invalid_arguments ? "ValueError"
                                                                : "RuntimeError";
    MXNET_THROW(kind) << "oneDNN: " << error.what();
  }
}

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_ENGINE_H_
