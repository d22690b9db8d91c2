/*!
 * \file openmp_team.h
 * \brief Threads of another library's OpenMP, which do the work of the pool meanwhile.
 */
#ifndef MXNET_SRC_OP_PARALLEL_OPENMP_TEAM_H_
#define MXNET_SRC_OP_PARALLEL_OPENMP_TEAM_H_

namespace mxnet {
namespace op {

/*!
 * \brief The threads with which the calling one runs loops in a library that has OpenMP.
 *
 * They look for work for milliseconds after a loop, and threads of the pool that are woken in the
 * meantime share the processors with them. Who comes from such a library has them serve the pool.
 */
class OpenMPTeam {
 public:
  /*! \brief What begins a parallel region: GOMP_parallel, which GNU's OpenMP has and LLVM's, too.
   */
  using Parallel = void (*)(void (*body)(void* data), void* data, unsigned threads, unsigned flags);

  /*! \brief Tells of the library; NULL: there is none. A forked process has none, as its threads
   * stay behind. */
  static void Use(Parallel parallel) noexcept;

  /*! \brief Whether they are awake, or might be. */
  static bool IsAwake() noexcept;

  /*! \brief Calls body() on this thread, while others of the team serve the pool. */
  template <typename Body>
  static void Run(const Body& body) {
    RunBody([](const void* self) { (*static_cast<const Body*>(self))(); }, &body);
  }

 private:
  static void RunBody(void (*run)(const void* body), const void* body);
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_OP_PARALLEL_OPENMP_TEAM_H_
