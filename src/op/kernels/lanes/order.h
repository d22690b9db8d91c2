/*!
 * \file order.h
 * \brief Tables of the orders of lanes that bring some of them before the others.
 */
#ifndef MXNET_SRC_OP_KERNELS_LANES_ORDER_H_
#define MXNET_SRC_OP_KERNELS_LANES_ORDER_H_

#include <cstdint>

namespace mxnet {
namespace op {
namespace internal {

/*! \brief For each mask of kLanes lanes the numbers of those in it, then of the others. */
template <int kLanes>
struct LaneOrder {
  alignas(32) uint32_t of[1 << kLanes][8]{};

  constexpr LaneOrder() {
    constexpr int kParts = 8 / kLanes;
    for (int mask = 0; mask < 1 << kLanes; ++mask) {
      int at = 0;
      for (int in = 1; in >= 0; --in) {
        for (int lane = 0; lane < kLanes; ++lane) {
          if ((mask >> lane & 1) != in) continue;
          // A lane of 64 bits is two of 32, which is what is permuted.
          for (int part = 0; part < kParts; ++part) {
            of[mask][at++] = static_cast<uint32_t>(lane * kParts + part);
          }
        }
      }
    }
  }
};

inline constexpr LaneOrder<8> kOrderOf8;
inline constexpr LaneOrder<4> kOrderOf4;

}  // namespace internal
}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_KERNELS_LANES_ORDER_H_
