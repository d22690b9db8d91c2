/*!
 * \file phases.h
 * \brief Loops one after the other, each of which needs all of the one before: the steps of a
 * sequence, say, whose pieces are too short for threads to be woken for each.
 */
#ifndef MXNET_SRC_OP_PARALLEL_PHASES_H_
#define MXNET_SRC_OP_PARALLEL_PHASES_H_

#include <cstdint>

namespace mxnet {
namespace op {

/*! \brief Does a piece of a phase. It may not throw. */
using PhasePiece = void (*)(const void* body, int64_t phase, int64_t piece);

/*! \brief InPhases for a body behind a pointer. */
void RunPhases(int64_t phases, int64_t pieces, PhasePiece piece, const void* body);

/*!
 * \brief Calls body(phase, piece) for all pieces of a phase, in any order, and then for those of
 * the next one.
 *
 * A thread has the same pieces in each phase, and finds in its caches what they read, but for those
 * that it takes over from threads that are late. No thread waits for one that has not begun.
 */
template <typename Body>
void InPhases(int64_t phases, int64_t pieces, const Body& body) {
  const PhasePiece piece = [](const void* self, int64_t phase, int64_t number) {
    (*static_cast<const Body*>(self))(phase, number);
  };
  RunPhases(phases, pieces, piece, &body);
}

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_PARALLEL_PHASES_H_
