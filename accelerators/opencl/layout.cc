#include "layout.h"

namespace opencl {

// One axis, the usual case, needs no division.
const char kLayoutSource[] = R"(
#define MAX_AXES 8
typedef struct {
  long ndim;
  long shape[MAX_AXES];
  long strides[4][MAX_AXES];
} Layout;

#define ADVANCE(layout, index, step)                                \
  do {                                                              \
    if ((layout).ndim <= 1) {                                       \
      step(index, 0)                                                \
    } else {                                                        \
      long rest_ = (index);                                         \
      for (int axis_ = (int)(layout).ndim - 1; axis_ >= 0; --axis_) { \
        const long at_ = rest_ % (layout).shape[axis_];             \
        rest_ /= (layout).shape[axis_];                             \
        step(at_, axis_)                                            \
      }                                                             \
    }                                                               \
  } while (0)
)";

}  // namespace opencl
