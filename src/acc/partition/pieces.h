/*!
 * \file pieces.h
 * \brief The pieces of compiled models in files.
 */
#ifndef MXNET_SRC_ACC_PARTITION_PIECES_H_
#define MXNET_SRC_ACC_PARTITION_PIECES_H_

#include <mxnet_acc.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "acc/plugin/status.h"

namespace mxnet {
namespace acc {

/*! \brief The name of a piece, where its first byte is in the file, and its size. */
using PieceRow = std::tuple<std::string, int64_t, int64_t>;

/*! \brief Writes the pieces that one call of exportModel gives out. */
class PieceSink {
 public:
  /*! \brief Of a file that is open for writing; pieces begin from an offset on. */
  PieceSink(int file, int64_t offset) : file_(file), end_(offset) {}
  PieceSink(const PieceSink&) = delete;
  PieceSink& operator=(const PieceSink&) = delete;

  /*! \brief What the library calls, with the address of a PieceSink. */
  static MXAccStatus Take(void* context, const MXAccPiece* piece);
  /*! \brief Throws what a piece was rejected for: RuntimeError for one that the library should not
   * have given, OSError where it could not be written. */
  void Check() const;
  const std::vector<PieceRow>& rows() const { return rows_; }

 private:
  void Add(const MXAccPiece& piece);
  void Write(const char* data, size_t size);

  int file_;
  int64_t end_;
  const std::thread::id thread_{std::this_thread::get_id()};
  std::unordered_set<std::string> names_;
  std::vector<PieceRow> rows_;
  std::optional<Error> error_;
};

/*! \brief A checksum that finds damage, as fast as memory is read; no protection from deceit. */
uint64_t ChecksumOf(const void* data, size_t size);

/*! \brief Pieces in a file, as importModel is given them. Their data stays as long as this. */
class MappedPieces {
 public:
  /*! \brief ValueError where the file does not have them, OSError where it cannot be mapped. */
  MappedPieces(int file, const std::vector<PieceRow>& rows);
  ~MappedPieces();
  MappedPieces(const MappedPieces&) = delete;
  MappedPieces& operator=(const MappedPieces&) = delete;

  const MXAccPiece* data() const { return pieces_.data(); }
  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }

 private:
  void* memory_{nullptr};
  size_t bytes_;
  std::vector<MXAccPiece> pieces_; /*!< keys are those of the rows, which may go */
};

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_PIECES_H_
