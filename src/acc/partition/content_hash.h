/*!
 * \file content_hash.h
 * \brief Tells arrays of different elements apart, as fast as memory is read.
 */
#ifndef MXNET_SRC_ACC_PARTITION_CONTENT_HASH_H_
#define MXNET_SRC_ACC_PARTITION_CONTENT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace mxnet {
namespace acc {

/*! \brief Words of 64 bits in the key of ContentHash. */
constexpr size_t kContentKeyWords = 130;

/*!
 * \brief 32 hexadecimal digits of bytes and a key.
 *
 * For a key that was drawn at random, two different runs of bytes have the same digits with a
 * probability below 2^-60, also where somebody chose them who does not know the key.
 */
std::string ContentHash(const void* data, size_t size, const uint64_t* key);

}  // namespace acc
}  // namespace mxnet

#endif  // MXNET_SRC_ACC_PARTITION_CONTENT_HASH_H_
