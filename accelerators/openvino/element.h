/*!
 * \file element.h
 * \brief Types of elements, as ONNX and OpenVINO number them.
 */
#ifndef OVACC_ELEMENT_H_
#define OVACC_ELEMENT_H_

#include <mxnet_acc.h>
#include <openvino/c/openvino.h>

#include <cstddef>
#include <cstdint>

namespace ovacc {

struct Element {
  uint8_t code; /*!< kMXAccInt ... */
  uint8_t bits;
  int32_t onnx; /*!< TensorProto.DataType */
  ov_element_type_e openvino;
};

/*! \brief NULL for a type that only one of the two has. */
const Element* FindElement(MXAccDataType dtype);
const Element* FindElement(ov_element_type_e type);

/*! \brief The first of these of which OpenVINO's CPU, which has int32 alone, makes another number,
 * or false where ONNX says true; NULL where there is none. */
const int64_t* FindWide(const int64_t* numbers, size_t count);

}  // namespace ovacc

#endif  // OVACC_ELEMENT_H_
