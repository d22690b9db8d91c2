/*!
 * \file pieces.cc
 * \brief Writes and maps the pieces of compiled models.
 */
#include "acc/partition/pieces.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "acc/plugin/adapter.h"

namespace mxnet {
namespace acc {
namespace {

constexpr int64_t kAlignment = 64;

[[noreturn]] void ThrowErrno(const char* what) {
  MXNET_THROW("OSError") << "a compiled model cannot be " << what << ": " << std::strerror(errno);
}

}  // namespace

MXAccStatus PieceSink::Take(void* context, const MXAccPiece* piece) {
  auto* sink = static_cast<PieceSink*>(context);
  if (!sink->error_) {
    try {
      if (piece == nullptr) MXNET_THROW("RuntimeError") << "exportModel gave NULL for a piece";
      sink->Add(*piece);
      return nullptr;
    } catch (const Error& error) {
      sink->error_ = error;
    } catch (const std::exception& error) {
      sink->error_ = Error("MemoryError", error.what());
    }
  }
  return Failure(kMXAccFailed, sink->error_->message());
}

void PieceSink::Check() const {
  if (error_) throw *error_;
}

void PieceSink::Add(const MXAccPiece& piece) {
  if (std::this_thread::get_id() != thread_) {
    MXNET_THROW("RuntimeError") << "exportModel gave a piece by another thread";
  }
  const std::string name = TextOf(piece.key, 200);
  if (name.empty() || !names_.insert(name).second) {
    MXNET_THROW("RuntimeError") << "exportModel gave a piece with "
                                << (name.empty() ? "no name" : "the name of another, " + name);
  }
  if (piece.size != 0 && piece.data == nullptr) {
    MXNET_THROW("RuntimeError") << "exportModel gave NULL for the data of the piece " << name;
  }
  const int64_t begin = (end_ + kAlignment - 1) / kAlignment * kAlignment;
  end_ = begin;
  Write(static_cast<const char*>(piece.data), piece.size);
  rows_.emplace_back(name, begin, static_cast<int64_t>(piece.size));
}

void PieceSink::Write(const char* data, size_t size) {
  while (size != 0) {
    const ssize_t written = ::pwrite(file_, data, size, end_);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) ThrowErrno("written");
    data += written;
    size -= static_cast<size_t>(written);
    end_ += written;
  }
}

uint64_t ChecksumOf(const void* data, size_t size) {
  constexpr size_t kLanes = 4;
  constexpr size_t kStep = kLanes * sizeof(uint64_t);
  uint64_t lanes[kLanes] = {size, 1, 2, 3};
  // Both steps can be undone, so that a word that has changed always changes its lane.
  const auto add = [&](const char* from) {
    uint64_t words[kLanes];
    std::memcpy(words, from, kStep);
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
      lanes[i] ^= lanes[i] >> 29;
    }
  };
  const char* from = static_cast<const char*>(data);
  for (; size >= kStep; size -= kStep, from += kStep) add(from);
  char rest[kStep] = {};
  if (size != 0) std::memcpy(rest, from, size);
  add(rest);
  uint64_t sum = 0;
  for (const uint64_t lane : lanes) sum = (sum ^ lane) * 0x9e3779b97f4a7c15u;
  return sum;
}

MappedPieces::MappedPieces(int file, const std::vector<PieceRow>& rows) {
  struct stat status;
  if (::fstat(file, &status) != 0) ThrowErrno("read");
  for (const auto& [name, offset, size] : rows) {
    const bool is_inside = offset >= 0 && offset % kAlignment == 0 && size >= 0 &&
                           offset <= status.st_size && size <= status.st_size - offset;
    if (!is_inside) {
      MXNET_THROW("ValueError") << "the piece " << name
                                << " of a compiled model is not in the file";
    }
  }
  bytes_ = static_cast<size_t>(status.st_size);
  if (bytes_ != 0) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory_ == MAP_FAILED) ThrowErrno("mapped");
  }
  for (const auto& [name, offset, size] : rows) {
    pieces_.push_back(
        {name.c_str(), static_cast<const char*>(memory_) + offset, static_cast<size_t>(size)});
  }
}

MappedPieces::~MappedPieces() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}  // namespace acc
}  // namespace mxnet
