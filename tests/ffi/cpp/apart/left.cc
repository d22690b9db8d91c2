/*!
 * \file left.cc
 * \brief A library that registers types of its own, and those of vertex.h.
 */
#include "vertex.h"

using mxnet::runtime::Ref;

enum class Mode { kFast = 1 };

struct Point {
  double x;
  double y;
};

MXNET_REGISTER_ENUM(Mode, "left.Mode").value("FAST", Mode::kFast);
MXNET_REGISTER_CLASS(Point, "left.Point")
    .def_init<double, double>()
    .def_readonly("x", &Point::x)
    .def_readonly("y", &Point::y);
MXNET_REGISTER_API("left.mode").set_body_typed([](Mode mode) { return mode; });
MXNET_REGISTER_API("left.turned").set_body_typed([](const Point& point) {
  return Point{-point.y, point.x};
});

// Before the class: what is declared may be used in any order.
MXNET_REGISTER_API("left.vertex").set_body_typed([](double x) {
  return Ref<geo::Vertex>::Make(x);
});
MXNET_REGISTER_API("left.x").set_body_typed([](const geo::Vertex& vertex) { return vertex.x; });
MXNET_REGISTER_CLASS(geo::Vertex, "geo.Vertex")
    .def_init<double>()
    .def_readwrite("x", &geo::Vertex::x);
MXNET_REGISTER_ENUM(geo::Side, "geo.Side")
#if VERSION == 2
    .value("AHEAD", static_cast<geo::Side>(7))
#endif
    .value("LEFT", geo::Side::kLeft)
    .value("RIGHT", geo::Side::kRight);
