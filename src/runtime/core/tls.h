/*!
 * \file tls.h
 * \brief Thread-local data that is found without a call.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_TLS_H_
#define MXNET_SRC_RUNTIME_CORE_TLS_H_

// __thread, unlike thread_local, promises that nothing has to be initialized on first use;
// initial-exec saves the call that finds a thread-local of a shared library.
#if defined(__GNUC__) && !defined(_WIN32)
#define MXNET_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define MXNET_TLS_INITIAL_EXEC
#endif

#endif  // MXNET_SRC_RUNTIME_CORE_TLS_H_
