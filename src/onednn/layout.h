/*!
 * \file layout.h
 * \brief Layout: how oneDNN has the elements of an array in memory.
 */
#ifndef MXNET_SRC_ONEDNN_LAYOUT_H_
#define MXNET_SRC_ONEDNN_LAYOUT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onednn/engine.h"

namespace mxnet {
namespace onednn {

/*! \brief Whether elements lie one behind the other in row-major order; strides of axes of extent 1
 * mean nothing. */
bool IsPlain(const Desc& desc);

class Layout {
 public:
  Layout(Desc desc, DLDataType dtype) : desc_(std::move(desc)), dtype_(dtype) {}

  const Desc& desc() const { return desc_; }
  DLDataType dtype() const { return dtype_; }
  std::vector<int64_t> shape() const { return desc_.get_dims(); }
  int64_t bytes() const { return static_cast<int64_t>(desc_.get_size()); }
  bool is_plain() const { return IsPlain(desc_); }
  /*! \brief As oneDNN writes layouts: axes by letters, the outermost first, in capitals where they
   * are cut into blocks, which follow with their sizes: "aBcd16b f32". */
  std::string Text() const;
  int64_t Hash() const;
  bool operator==(const Layout& other) const {
    return dtype_ == other.dtype_ && desc_ == other.desc_;
  }

  /*! \brief The same memory seen with its axes in another order: new axis i is axes[i]. */
  Layout Permuted(const std::vector<int64_t>& axes) const;
  /*! \brief The same memory seen in another shape; ValueError where this is not possible. */
  Layout Reshaped(const std::vector<int64_t>& shape) const;

 private:
  Desc desc_;
  DLDataType dtype_;
};

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_LAYOUT_H_
