/*!
 * \file right.cc
 * \brief A library whose own types have the names of those of left.cc, and which uses vertex.h.
 */
#include <string>

#include "vertex.h"

using mxnet::runtime::Ref;

enum class Mode { kExact = 1, kRounded = 2 };

struct Point {
  std::string name;
};

MXNET_REGISTER_ENUM(Mode, "right.Mode")
    .value("EXACT", Mode::kExact)
    .value("ROUNDED", Mode::kRounded);
MXNET_REGISTER_CLASS(Point, "right.Point")
    .def_init<std::string>()
    .def_readonly("name", &Point::name);
MXNET_REGISTER_API("right.mode").set_body_typed([](Mode mode) { return mode; });
MXNET_REGISTER_API("right.renamed").set_body_typed([](const Point& point) {
  return Point{point.name + "'"};
});

MXNET_REGISTER_API("right.moved").arg("vertex").set_body_typed([](const geo::Vertex& vertex) {
  geo::Vertex moved = vertex;
  moved.x += 1;
  return moved;
});
MXNET_REGISTER_API("right.same").set_body_typed([](Ref<geo::Vertex> vertex) { return vertex; });
MXNET_REGISTER_API("right.made").set_body_typed([] { return Ref<geo::Vertex>::Make(); });
MXNET_REGISTER_API("right.other").arg("side").set_body_typed([](geo::Side side) {
  return side == geo::Side::kLeft ? geo::Side::kRight : geo::Side::kLeft;
});
