/*!
 * \file derived.cc
 * \brief A library with a class that is derived from one of another library.
 */
#include "vertex.h"

struct Labelled : geo::Vertex {
  int label = 7;
};

MXNET_REGISTER_CLASS(Labelled, "derived.Labelled")
    .def_base<geo::Vertex>()
    .def_init<>()
    .def_readonly("label", &Labelled::label);
