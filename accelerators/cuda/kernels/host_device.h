/*!
 * \file host_device.h
 * \brief Functions for both sides: nvcc compiles them for the device, every compiler for the CPU.
 */
#ifndef CUDAACC_HOST_DEVICE_H_
#define CUDAACC_HOST_DEVICE_H_

#ifdef __CUDACC__
#define CUDAACC_BOTH __host__ __device__
#else
#define CUDAACC_BOTH
#endif

#endif  // CUDAACC_HOST_DEVICE_H_
