/* The measured functions in plain C, which ctypes and cffi call. */
#include <stddef.h>
#include <stdint.h>

void nop0(void);
void nop3(int64_t a, int64_t b, int64_t c);
void nop_str(const char* text);
void nop_shape(const int64_t* shape, size_t ndim);
void nop_zeros(const int64_t* shape, size_t ndim, const char* dtype, const char* ctx);
void nop_array(const float* data, size_t size);
const char* echo(const char* text);
void apply(void (*callback)(void));
