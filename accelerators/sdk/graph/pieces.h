/*!
 * \file pieces.h
 * \brief The pieces of a compiled model with a seal, by which an import knows that they are whole.
 */
#ifndef MXACC_SDK_GRAPH_PIECES_H_
#define MXACC_SDK_GRAPH_PIECES_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace mxacc {

/*!
 * \brief A checksum of the key, names and bytes of pieces, in order. It finds damage, such as bits
 * that have changed and pieces that were cut; it is no protection from who means to deceive.
 */
class Seal {
 public:
  void Add(const void* data, size_t size);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_{0xcbf29ce484222325u};
};

/*! \brief What exportModel gives out. */
class PieceWriter {
 public:
  /*! \brief key is what modelKey writes. */
  PieceWriter(const char* key, MXAccTakePiece take, void* context);

  /*! \brief Gives one piece; Failure where MXNet does not take it. */
  void Write(const std::string& name, const void* data, size_t size);
  /*! \brief Gives the piece "seal", the last one. */
  void Finish();

 private:
  void Give(const char* name, const void* data, size_t size) const;

  MXAccTakePiece take_;
  void* context_;
  Seal seal_;
};

/*! \brief What importModel is given. */
class PieceReader {
 public:
  /*! \brief Failure, kMXAccBadArgument, where they are not those that a PieceWriter has given under
   * that key. Reads all of them. */
  PieceReader(const char* key, const MXAccPiece* pieces, int32_t count);

  /*! \brief The piece of that name; Failure, kMXAccBadArgument, where there is none. */
  const MXAccPiece& At(const std::string& name) const;
  /*! \brief The same as text. */
  std::string Text(const std::string& name) const;

 private:
  const MXAccPiece* pieces_;
  int32_t count_; /*!< without the seal */
};

}  // namespace mxacc

#endif  // MXACC_SDK_GRAPH_PIECES_H_
