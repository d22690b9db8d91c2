"""The parts of the C source that are the same for all models."""

# What is around the calls of kernels.
RUN_TILES = """\
typedef void mx_kernel(const void *const *in, void *const *out, void *work, int64_t begin,
                       int64_t end);

/* A kernel with what it is called with. */
typedef struct {
  mx_kernel *call;
  const void *const *in;
  void *const *out;
  char *work;
  size_t thread_bytes;
} mx_task;

static void mx_run_part(void *data, int thread, int64_t begin, int64_t end) {
  const mx_task *one = (const mx_task *)data;
  char *work = one->work == NULL ? NULL : one->work + (size_t)thread * one->thread_bytes;
  one->call(one->in, one->out, work, begin, end);
}

static inline void mx_run_tiles(const NAME_pool *pool, mx_kernel *call, const void *const *in,
                                void *const *out, char *work, size_t thread_bytes, int64_t tiles) {
  if (tiles == 0) return;
  if (pool == NULL || pool->threads == 1 || tiles == 1) {
    call(in, out, work, 0, tiles);
    return;
  }
  mx_task one = {call, in, out, work, thread_bytes};
  pool->run(pool->context, mx_run_part, &one, tiles);
}

typedef struct {
  const void *begin;
  size_t bytes;
} mx_span;

static int mx_apart(mx_span a, mx_span b) {
  return a.bytes == 0 || b.bytes == 0 || (uintptr_t)a.begin + a.bytes <= (uintptr_t)b.begin ||
         (uintptr_t)b.begin + b.bytes <= (uintptr_t)a.begin;
}

static int mx_overlap(const mx_span *written, size_t writes, const mx_span *read, size_t reads) {
  for (size_t i = 0; i < writes; ++i) {
    for (size_t j = i + 1; j < writes; ++j)
      if (!mx_apart(written[i], written[j])) return 1;
    for (size_t j = 0; j < reads; ++j)
      if (!mx_apart(written[i], read[j])) return 1;
  }
  return 0;
}
"""

# For kernels that are executed in turns.
RUN_TURNS = """\
/* A kernel that is executed in turns: tiles read what those of the turn before have written. Each
 * turn has as many parts as there are threads, so that these tend to have the same ones. */
typedef struct {
  mx_task task;
  int64_t turn, tiles, parts;
} mx_turns;

static inline void mx_run_turn_part(void *data, int thread, int64_t begin, int64_t end) {
  mx_turns *one = (mx_turns *)data;
  const int64_t first = one->turn * one->tiles;
  mx_run_part(&one->task, thread, first + begin * one->tiles / one->parts,
              first + end * one->tiles / one->parts);
}

static inline void mx_run_turns(const NAME_pool *pool, mx_kernel *call, const void *const *in,
                                void *const *out, char *work, size_t thread_bytes, int64_t tiles,
                                int64_t turns) {
  const int64_t threads = pool == NULL ? 1 : pool->threads;
  mx_turns one = {{call, in, out, work, thread_bytes}, 0, tiles, threads < tiles ? threads : tiles};
  if (one.parts == 1) {
    call(in, out, work, 0, tiles * turns);
    return;
  }
  for (; one.turn < turns; ++one.turn)
    pool->run(pool->context, mx_run_turn_part, &one, one.parts);
}
"""

# Whether weights beside the library are its own; quick, so that each call may ask.
CHECK_FILE = """\
/* What a file of weights begins with. */
typedef struct {{
  char magic[8];
  uint32_t version, order;
  uint64_t identity, count, crc;
}} mx_file_header;

static int mx_is_right_file(const void *weights, size_t bytes) {{
  mx_file_header found;
  if (bytes < {header}) return 0;
  memcpy(&found, weights, sizeof found);
  return memcmp(found.magic, "{magic}", 8) == 0 && found.version == {version} &&
         found.order == {order} && found.identity == {identity} && found.count == {count} &&
         bytes - {header} >= {count};
}}
"""

# CRC-32, four bits at a time.
CRC = """\
static int mx_is_whole_file(const void *weights) {
  static const uint32_t steps[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *data = (const unsigned char *)weights + 64;
  mx_file_header found;
  memcpy(&found, weights, sizeof found);
  uint32_t crc = UINT32_MAX;
  for (uint64_t i = 0; i < found.count; ++i) {
    crc ^= data[i];
    crc = crc >> 4 ^ steps[crc & 15];
    crc = crc >> 4 ^ steps[crc & 15];
  }
  return (uint32_t)~crc == found.crc;
}
"""
