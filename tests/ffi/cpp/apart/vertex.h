/*!
 * \file vertex.h
 * \brief What one library registers and another uses.
 */
#ifndef TESTS_FFI_APART_VERTEX_H_
#define TESTS_FFI_APART_VERTEX_H_

#include <mxnet/runtime/class.h>
#include <mxnet/runtime/enum.h>

namespace geo {

struct Vertex {
#ifdef BIGGER_VERTEX
  double more = 0;
#endif
  double x;
};

enum class Side { kLeft = -1, kRight = 1 };

}  // namespace geo

MXNET_DECLARE_CLASS(geo::Vertex, "geo.Vertex");
MXNET_DECLARE_ENUM(geo::Side, "geo.Side");

#endif  // TESTS_FFI_APART_VERTEX_H_
