#include "pieces.h"

#include <cstring>

#include "../status.h"

namespace mxacc {
namespace {

constexpr char kSeal[] = "seal";

[[noreturn]] void Reject(const std::string& why) {
  throw Failure(kMXAccBadArgument, "the compiled model " + why);
}

void AddPiece(const char* name, const void* data, size_t size, Seal* seal) {
  const uint64_t bytes = size;
  seal->Add(name, std::strlen(name) + 1);
  seal->Add(&bytes, sizeof(bytes));
  seal->Add(data, size);
}

}  // namespace

void Seal::Add(const void* data, size_t size) {
  const char* from = static_cast<const char*>(data);
  // Both steps can be undone, so that two inputs which differ in one word never get one value.
  const auto add = [this](uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 29;
  };
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), from += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, from, sizeof(word));
    add(word);
  }
  uint64_t rest = 0;
  if (size != 0) std::memcpy(&rest, from, size);
  add(rest);
}

PieceWriter::PieceWriter(const char* key, MXAccTakePiece take, void* context)
    : take_(take), context_(context) {
  seal_.Add(key, std::strlen(key) + 1);
}

void PieceWriter::Give(const char* name, const void* data, size_t size) const {
  const MXAccPiece piece{name, data, size};
  const MXAccStatus status = take_(context_, &piece);
  if (status != nullptr) throw Failure(status->code, status->message);
}

void PieceWriter::Write(const std::string& name, const void* data, size_t size) {
  Give(name.c_str(), data, size);
  AddPiece(name.c_str(), data, size, &seal_);
}

void PieceWriter::Finish() {
  const uint64_t value = seal_.value();
  Give(kSeal, &value, sizeof(value));
}

PieceReader::PieceReader(const char* key, const MXAccPiece* pieces, int32_t count)
    : pieces_(pieces), count_(count - 1) {
  if (count < 1) Reject("has no pieces");
  const MXAccPiece& last = pieces[count_];
  uint64_t sealed = 0;
  if (std::strcmp(last.key, kSeal) != 0 || last.size != sizeof(sealed)) Reject("is not whole");
  std::memcpy(&sealed, last.data, sizeof(sealed));
  Seal seal;
  seal.Add(key, std::strlen(key) + 1);
  for (int32_t i = 0; i < count_; ++i) {
    AddPiece(pieces[i].key, pieces[i].data, pieces[i].size, &seal);
  }
  if (seal.value() != sealed) Reject("is damaged, or of another key");
}

const MXAccPiece& PieceReader::At(const std::string& name) const {
  for (int32_t i = 0; i < count_; ++i) {
    if (name == pieces_[i].key) return pieces_[i];
  }
  Reject("has no piece '" + name + "'");
}

std::string PieceReader::Text(const std::string& name) const {
  const MXAccPiece& piece = At(name);
  return std::string(static_cast<const char*>(piece.data), piece.size);
}

}  // namespace mxacc
