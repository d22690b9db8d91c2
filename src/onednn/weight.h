/*!
 * \file weight.h
 * \brief Weight: a constant that kernels for several shapes read, "mx.onednn.Weight" of Python.
 */
#ifndef MXNET_SRC_ONEDNN_WEIGHT_H_
#define MXNET_SRC_ONEDNN_WEIGHT_H_

#include <memory>
#include <mutex>
#include <vector>

#include "onednn/steps.h"

namespace mxnet {
namespace onednn {

/*! \brief Packs a row-major array once for each layout that kernels want. Any threads use it at
 * once. */
class Weight {
 public:
  using Elements = std::shared_ptr<const void>;

  Weight(Elements elements, Dims shape, DLDataType dtype);

  /*! \brief The elements; made again of packed ones where they have been released. */
  Elements Get();
  /*! \brief The elements, seen as `lies`, in the layout `wanted`. */
  Buffer Packed(const Desc& lies, const Desc& wanted);
  /*! \brief Gives the elements up, if they can be made again. Returns whether they are given up. */
  bool Release();

  const Dims& shape() const { return shape_; }
  DLDataType dtype() const { return dtype_; }
  /*! \brief How many layouts it is packed for. */
  size_t num_packed() const;

 private:
  struct Packing {
    Desc lies;
    Desc wanted;
    Buffer buffer;
  };

  /*! \brief One that the elements can be brought back from; nullptr where there is none. */
  const Packing* Reversible() const;
  Elements GetLocked();

  const Dims shape_;
  const DLDataType dtype_;

  mutable std::mutex mutex_;
  Elements elements_;
  std::vector<Packing> packings_;
};

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_WEIGHT_H_
