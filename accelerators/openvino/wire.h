/*!
 * \file wire.h
 * \brief The part of protobuf's encoding that an ONNX model is taken apart and put together with.
 */
#ifndef OVACC_WIRE_H_
#define OVACC_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ovacc {

/*! \brief A field of a message. */
struct Field {
  uint32_t number;
  std::string_view payload; /*!< of a text, bytes or a message; else empty */
  std::string_view whole;   /*!< with number and length */
};

/*! \brief Goes through the fields of a message, whose bytes have to stay. */
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  /*! \brief The next field; false at the end. Failure, kMXAccBadArgument, for what is no message.
   */
  bool Next(Field* field);

 private:
  uint64_t TakeNumber();
  std::string_view Take(uint64_t size);

  std::string_view rest_;
};

/*! \brief Appends a field that is an integer of at least 0. */
void WriteNumber(uint32_t number, uint64_t value, std::string* out);
/*! \brief Appends number and length of a field whose payload of that size is appended next. */
void WriteLength(uint32_t number, size_t size, std::string* out);
/*! \brief Appends a field that is a text, bytes or a message. */
void WriteBytes(uint32_t number, std::string_view payload, std::string* out);

}  // namespace ovacc

#endif  // OVACC_WIRE_H_
