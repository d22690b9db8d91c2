/*!
 * \file library.h
 * \brief What every library says to MXNet and asks of it.
 */
#ifndef MXACC_SDK_LIBRARY_H_
#define MXACC_SDK_LIBRARY_H_

#include <mxnet_acc.h>

#include <string>

namespace mxacc {

/*! \brief Copies as much of a table as MXNet has room for; of a library that has `size` of it. */
void FillTable(const MXAccApi& table, MXAccApi* api, size_t size = sizeof(MXAccApi));

/*! \brief Failure unless there is a device of that number. */
void CheckDevice(int32_t dev_id, size_t num_devices);

/*! \brief For mx_alloc: kMXAccUnsupported unless it is memory of the device. */
void CheckMemory(int32_t memory);

/*! \brief For getDeviceInfo: writes what goes into a description, whatever told.struct_size is. */
void FillDeviceInfo(MXAccDeviceInfo told, MXAccDeviceInfo* info);

/*! \brief For getAccName. Failure where there is no room. */
void WriteName(const std::string& text, char* name, size_t size);

/*! \brief For supportsImperative, of a library that does. */
MXAccStatus SupportsImperative(void*, int32_t* yes);

/*! \brief Tells the user, if MXNet has a log. */
void Log(const MXAccRuntime& runtime, int32_t level, const std::string& message);

/*! \brief Passes one answer of configure on. */
void Emit(MXAccEmit emit, void* context, const char* key, const std::string& value);

}  // namespace mxacc

#endif  // MXACC_SDK_LIBRARY_H_
