#include "pieces.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "../status.h"

namespace mxacc {
namespace {

constexpr char kSeal[] = "seal";
/*! \brief Bytes that have a checksum of their own: threads compute these side by side. */
constexpr size_t kBlock = size_t{1} << 22;
constexpr size_t kMostThreads = 8;  // more do not read memory faster

[[noreturn]] void Reject(const std::string& why) {
  throw Failure(kMXAccBadArgument, "the compiled model " + why);
}

/*! \brief Checksums of the blocks of bytes. */
std::vector<uint64_t> SumsOf(const void* data, size_t size) {
  std::vector<uint64_t> sums((size + kBlock - 1) / kBlock);
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < sums.size(); i = next++) {
      Seal seal;
      seal.Add(static_cast<const char*>(data) + i * kBlock, std::min(kBlock, size - i * kBlock));
      sums[i] = seal.value();
    }
  };
  const size_t count = std::min<size_t>(
      {sums.size(), kMostThreads, std::max(1u, std::thread::hardware_concurrency())});
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    while (threads.size() + 1 < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // With fewer threads it only takes longer.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  return sums;
}

void AddPiece(const char* name, const void* data, size_t size, Seal* seal) {
  const uint64_t bytes = size;
  const std::vector<uint64_t> sums = SumsOf(data, size);
  seal->Add(name, std::strlen(name) + 1);
  seal->Add(&bytes, sizeof(bytes));
  seal->Add(sums.data(), sums.size() * sizeof(uint64_t));
}

}  // namespace

void Seal::Add(const void* data, size_t size) {
  constexpr size_t kLanes = 4;  // so that the processor need not wait for each product
  constexpr size_t kStep = kLanes * sizeof(uint64_t);
  uint64_t lanes[kLanes] = {value_, 1, 2, 3};
  // Both steps can be undone, so that a word that has changed always changes its lane.
  const auto add = [](uint64_t word, uint64_t* lane) {
    *lane = (*lane ^ word) * 0x9e3779b97f4a7c15u;
    *lane ^= *lane >> 29;
  };
  // Lane by lane: of a loop compilers keep the lanes in memory, which takes three times as long.
  const auto add_step = [&](const char* from) {
    uint64_t words[kLanes];
    std::memcpy(words, from, kStep);
    add(words[0], &lanes[0]);
    add(words[1], &lanes[1]);
    add(words[2], &lanes[2]);
    add(words[3], &lanes[3]);
  };
  const char* from = static_cast<const char*>(data);
  for (; size >= kStep; size -= kStep, from += kStep) add_step(from);
  char rest[kStep] = {};
  if (size != 0) std::memcpy(rest, from, size);
  add_step(rest);
  for (const uint64_t lane : lanes) add(lane, &value_);
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
