/*!
 * \file indexing_key.h
 * \brief What stands between the brackets of a[...].
 *
 * A key is an int, or a tuple of items. An item is an int, None (a new axis), "..." (Ellipsis), the
 * tuple ("slice", start, stop, step), a bool, or an index array: an array or a list of ints or
 * bools.
 */
#ifndef MXNET_SRC_API_NUMPY_INDEXING_KEY_H_
#define MXNET_SRC_API_NUMPY_INDEXING_KEY_H_

#include <mxnet/op/attributes.h>
#include <mxnet/op/c_operator_api.h>
#include <mxnet/runtime/packed_func.h>

#include <memory>
#include <vector>

#include "op/tensor/gather.h"

namespace mxnet {
namespace op {

/*! \brief The part of an array that a basic key selects: its first element and its layout. */
struct SubarrayLayout {
  char* data;
  StridedAxes axes;
};

/*! \brief An index array along one axis of the indexed array, or along several that step evenly. */
struct AxisIndices {
  NDArray indices; /*!< integers of any type, anywhere */
  int64_t extent;
  int64_t stride;
  int axis;
};

[[noreturn]] void ThrowOutOfBounds(int64_t index, int axis, int64_t extent);

/*! \brief A key, read but not yet applied to an array. */
class IndexKey {
 public:
  explicit IndexKey(const MXNetArgValue& key);

  /*! \brief Whether the result is a view: no index array and no bool. */
  bool is_basic() const noexcept { return !is_advanced_; }
  /*! \brief Whether a 0-d array stood for an int, in which case the result is not a view. */
  bool has_scalar_array() const noexcept { return has_scalar_array_; }
  /*! \brief Whether it names one element of an array, by an int for each axis. */
  bool is_element_of(int ndim) const noexcept {
    return is_basic() && !has_ellipsis_ && num_items_ == ndim && num_axes_ == ndim && !has_slice_;
  }
  /*! \brief Whether it is one array of bools with as many axes as the array. */
  bool is_mask_of(int ndim) const noexcept;

  /*! \brief Whether its index arrays are all of integers. */
  bool has_no_mask() const noexcept;
  /*! \brief The first of its index arrays. */
  const NDArray& array() const noexcept { return arrays_[0]; }

  /*! \brief The part that a basic key selects; IndexError for an index out of bounds or too many.
   */
  void ApplyBasic(const DLTensor& tensor, SubarrayLayout* subarray) const;

  /*!
   * \brief Applies an advanced key.
   *
   * subarray gets the axes of slices and new axes, arrays the index arrays. Returns how many of the
   * axes in subarray come before those of the index arrays. The values of these are not checked,
   * and only those of masks are read.
   */
  int ApplyAdvanced(const DLTensor& tensor, SubarrayLayout* subarray,
                    std::vector<AxisIndices>* arrays) const;

  /*!
   * \brief ApplyBasic and ApplyAdvanced of a tensor without elements, whose extents may be
   * symbolic: subarray gets extents, and strides that mean nothing.
   */
  int ApplyToSpec(const MXNetTensorSpec& spec, SubarrayLayout* subarray,
                  std::vector<AxisIndices>* arrays) const;

 private:
  enum class Kind { kInt, kSlice, kNewAxis, kEllipsis, kArray };
  struct Item {
    Kind kind;
    bool has_start;
    bool has_stop;
    int64_t start; /*!< of a slice; the value of an int; the number of an array in arrays_ */
    int64_t stop;
    int64_t step;
  };
  template <bool kOfSpec>
  class Walk;

  void Add(const MXNetAny& raw);
  void AddInt(int64_t value);
  void AddSlice(const MXNetAnyArray& parts);
  void AddArray(NDArray array);
  Item* NewItem(Kind kind);
  void CheckAxes(const DLTensor& tensor) const;

  /*! \brief Every axis once as an item and once as a new axis, and an ellipsis. */
  static constexpr int kMaxItems = 2 * kMaxNdim + 1;

  Item items_[kMaxItems];
  int num_items_{0};
  std::vector<NDArray> arrays_;
  int num_axes_{0};
  bool has_ellipsis_{false};
  bool has_slice_{false};
  bool is_advanced_{false};
  bool has_scalar_array_{false};
};

/*! \brief Keys of operators, which only plans and infer read so; calls do from their arguments. */
template <>
struct AttributeTraits<std::shared_ptr<const IndexKey>> {
  static constexpr ParamType kType{"Any", kMXNetRoleAttribute};
  static std::shared_ptr<const IndexKey> Read(const MXNetArgValue& arg, MXNetFunctionHandle, int);
};

}  // namespace op
}  // namespace mxnet

#endif  // MXNET_SRC_API_NUMPY_INDEXING_KEY_H_
