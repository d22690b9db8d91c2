/*
 * Streams for the template that do no copy before somebody waits for it; for test_check.py.
 *
 * With KEEP_POINTERS, NO_WAIT, DROP, ZERO_AT_ONCE or ZERO_MORE they do what mxnet_acc.h forbids.
 */
#include <pthread.h>

enum { kMostDims = 8, kMostKept = 64 };

typedef struct Kept {
  MXTensor target, source;
  const MXTensor* given_target;
  const MXTensor* given_source;
  int64_t shape[kMostDims];
} Kept;

typedef struct Lazy {
  Kept kept[kMostKept];
  int count;
  struct Lazy* next;
} Lazy;

static Lazy* all_streams;
static pthread_mutex_t lazy_mutex = PTHREAD_MUTEX_INITIALIZER;

static void Flush(Lazy* stream) {
  for (int i = 0; i < stream->count; ++i) {
    Kept* kept = &stream->kept[i];
    kept->target.tensor.shape = kept->source.tensor.shape = kept->shape;
#ifdef KEEP_POINTERS
    kept->target = *kept->given_target;
    kept->source = *kept->given_source;
#endif
    CopyNow(NULL, 0, &kept->target, &kept->source, 1, NULL);
  }
  stream->count = 0;
}

static void FlushAll(void) {
  for (Lazy* stream = all_streams; stream != NULL; stream = stream->next) Flush(stream);
}

static MXAccStatus Copy(void* self, int32_t dev_id, MXTensor* targets, const MXTensor* sources,
                        int32_t count, MXAccStream stream) {
  Lazy* lazy = (Lazy*)stream;
  if (lazy == NULL) return CopyNow(self, dev_id, targets, sources, count, NULL);
  for (int32_t i = 0; i < count; ++i) {
    if (lazy->count == kMostKept) Flush(lazy);
    Kept* kept = &lazy->kept[lazy->count++];
    kept->target = targets[i];
    kept->source = sources[i];
    kept->given_target = &targets[i];
    kept->given_source = &sources[i];
    memcpy(kept->shape, sources[i].tensor.shape, sizeof(int64_t) * (size_t)sources[i].tensor.ndim);
  }
  return NULL;
}

static MXAccStatus Zero(void* self, int32_t dev_id, void* data, uint64_t byte_offset, size_t size,
                        MXAccStream stream, uint64_t work) {
  static char zeros[8 << 20];
  MXTensor target = {.tensor = {.data = data, .ndim = 1, .dtype = {kMXAccUInt, 8, 1}}};
  MXTensor source = target;
  int64_t shape[1];
#ifdef ZERO_AT_ONCE
  stream = NULL;
#endif
#ifdef ZERO_MORE
  size += 1;
#endif
  shape[0] = (int64_t)size;
  target.tensor.byte_offset = byte_offset;
  source.tensor.data = zeros;
  target.tensor.shape = source.tensor.shape = shape;
  return Copy(self, dev_id, &target, &source, 1, stream);
}

static MXAccStatus CreateStream(void* self, int32_t dev_id, MXAccStream* out) {
  Lazy* stream = calloc(1, sizeof(Lazy));
  pthread_mutex_lock(&lazy_mutex);
  stream->next = all_streams;
  all_streams = stream;
  pthread_mutex_unlock(&lazy_mutex);
  *out = (MXAccStream)stream;
  return NULL;
}

static MXAccStatus SyncStream(void* self, int32_t dev_id, MXAccStream stream) {
  FlushAll();
  return NULL;
}

static void DestroyStream(void* self, int32_t dev_id, MXAccStream stream) {
#ifndef DROP
  FlushAll();
#endif
  Lazy** link = &all_streams;
  while (*link != (Lazy*)stream) link = &(*link)->next;
  *link = (*link)->next;
  free(stream);
}

static MXAccStatus CreateEvent(void* self, int32_t dev_id, MXAccEvent* out) {
  *out = malloc(1);
  return NULL;
}

static void DestroyEvent(void* self, int32_t dev_id, MXAccEvent event) { free(event); }

static MXAccStatus RecordEvent(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream) {
  return NULL;
}

static MXAccStatus WaitEvent(void* self, int32_t dev_id, MXAccEvent event, MXAccStream stream) {
#ifndef NO_WAIT
  FlushAll();
#endif
  return NULL;
}

#define STREAMS                                                                           \
  .createStream = CreateStream, .destroyStream = DestroyStream, .syncStream = SyncStream, \
  .createEvent = CreateEvent, .destroyEvent = DestroyEvent, .recordEvent = RecordEvent,   \
  .waitEvent = WaitEvent, .mx_zero = Zero,
