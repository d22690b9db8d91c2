/*!
 * \file post_ops.h
 * \brief What a primitive does to its result before it writes it, and the algorithms by name.
 */
#ifndef MXNET_SRC_ONEDNN_POST_OPS_H_
#define MXNET_SRC_ONEDNN_POST_OPS_H_

#include <optional>
#include <string>
#include <vector>

#include "onednn/primitive.h"

namespace mxnet {
namespace onednn {

/*! \brief Of one operand, with up to two numbers. */
struct Eltwise {
  algorithm alg;
  float alpha;
  float beta;
};
/*! \brief Throws ValueError, naming the argument, for a kind that there is not. */
Eltwise EltwiseOf(const std::string& kind, std::optional<double> alpha, std::optional<double> beta,
                  const char* argument);
algorithm BinaryOf(const std::string& kind, const char* argument);

struct PostOp {
  std::string kind;
  std::optional<double> alpha;
  std::optional<double> beta;
  std::optional<GivenOperand> operand; /*!< of "sum" and of what has two operands */
};

/*! \brief ValueError for a kind that there is not, or one with an operand too many or few. */
void CheckPostOp(const PostOp& post);

using GivenPostOps = std::vector<PostOp>;

/*! \brief Those of one primitive: read before it is made, bound to memory afterwards. */
class PostOps {
 public:
  /*! \brief shape is that of the result. ValueError for an operand that does not broadcast to it.
   */
  PostOps(const GivenPostOps& given, Dims shape);

  /*! \brief Whether all operands have but the last axis, or all axes: those of a result that is
   * seen with its first axes joined. */
  bool IsJoinable() const;
  /*! \brief Sees the result, and the operands, as a matrix of that many rows. */
  void Join(int64_t rows);

  /*! \brief First a function of the result, or of that and an operand. */
  void Prepend(const Eltwise& eltwise);
  void Prepend(algorithm alg, const Operand& operand);

  dnnl::post_ops Get() const;
  dnnl::primitive_attr Attributes() const { return AttributesWith(Get()); }
  /*! \brief Appends the arguments for operands. output is that of the primitive. */
  void Bind(const dnnl::primitive_desc_base& desc, const Argument& output, Maker* maker,
            std::vector<Argument>* arguments) const;

 private:
  struct Entry {
    enum class Kind { kEltwise, kBinary, kSum };

    Kind kind;
    Eltwise eltwise;
    std::optional<Operand> operand;
    Dims seen; /*!< the operand's shape, with as many axes as the result has */
  };

  void AddOperand(Operand operand, Entry entry);

  Dims shape_;
  std::vector<Entry> entries_;
};

}  // namespace onednn
}  // namespace mxnet

#endif  // MXNET_SRC_ONEDNN_POST_OPS_H_
