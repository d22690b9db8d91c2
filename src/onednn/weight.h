/*!
 * \file weight.h
 * \brief Weight: a constant that kernels for several shapes read, "mx.onednn.Weight" of Python.
 */
#ifndef MXNET_SRC_ONEDNN_WEIGHT_H_
#define MXNET_SRC_ONEDNN_WEIGHT_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "onednn/steps.h"

namespace mxnet {
namespace onednn {

/*! \brief Packs a row-major array once for each layout that kernels want. Any threads use it at
 * once. */
class Weight {
 public:
  using Elements = std::shared_ptr<const void>;

  /*! \brief Elements in a layout that kernels want, which they had been brought to from another.
   * Layouts are as Layout::Text has them. */
  struct Form {
    std::string lies;
    std::string wanted;
    Elements data;
    size_t bytes;
  };

  Weight(Elements elements, Dims shape, DLDataType dtype);
  /*! \brief Of packed elements alone, as Forms of another process has told them. */
  Weight(std::vector<Form> kept, Dims shape, DLDataType dtype);

  /*! \brief The elements; made again of packed ones where they have been released. */
  Elements Get();
  /*! \brief The elements, seen as `lies`, in the layout `wanted`. ValueError where there are but
   * packed ones, none in that layout. */
  Buffer Packed(const Desc& lies, const Desc& wanted);
  /*! \brief Gives the elements up, if they can be made again. Returns whether they are given up. */
  bool Release();

  const Dims& shape() const { return shape_; }
  DLDataType dtype() const { return dtype_; }
  /*! \brief How many layouts it is packed for. */
  size_t num_packed() const;
  /*! \brief All that it is packed to. */
  std::vector<Form> Forms() const;

 private:
  struct Packing {
    Desc lies;
    Desc wanted;
    Buffer buffer;
  };

  /*! \brief One that the elements can be brought back from; nullptr where there is none. */
  const Packing* Reversible() const;
  Elements GetLocked();
  /*! \brief A form that is kept; an empty one where there is none. */
  Buffer Kept(const Desc& lies, const Desc& wanted) const;

  const Dims shape_;
  const DLDataType dtype_;

  mutable std::mutex mutex_;
  Elements elements_;
  std::vector<Packing> packings_;
  std::vector<Form> kept_;
};

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_WEIGHT_H_
