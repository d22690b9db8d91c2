#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef void body_function(void* task, int thread, int64_t begin, int64_t end);

/* How often a thread looks for work before it sleeps: some microseconds. */
enum { LOOKS = 4000, LINE = 64 };

typedef struct {
  pool* pool;
  int number;
  pthread_t thread;
} worker;

struct pool {
  int threads;
  worker* workers; /* without the caller's thread */
  body_function* body;
  void* task;
  int64_t tiles, part, parts; /* of this run, which does not end before all parts are done */
  /* Each in a cache line of its own, as threads look at them while others write the others. */
  _Alignas(LINE) atomic_int_fast64_t left; /* parts that nobody has taken; below 0: who came late */
  _Alignas(LINE) atomic_int_fast64_t done; /* parts */
  _Alignas(LINE) atomic_uint_fast64_t runs; /* how many were begun */
  atomic_int sleeping, is_over;             /* workers that wait for `wake` */
  pthread_mutex_t lock;
  pthread_cond_t wake;
};

static void pause_a_moment(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void take_parts(pool* p, int thread) {
  for (;;) {
    const int64_t left = atomic_fetch_sub(&p->left, 1);
    if (left <= 0) return;
    const int64_t begin = (p->parts - left) * p->part;
    const int64_t end = begin + p->part < p->tiles ? begin + p->part : p->tiles;
    p->body(p->task, thread, begin, end);
    atomic_fetch_add(&p->done, 1);
  }
}

/* Waits for another run than the one that was seen last, and returns its number. */
static uint_fast64_t wait_for_run(pool* p, uint_fast64_t seen) {
  for (int i = 0; i < LOOKS; ++i) {
    const uint_fast64_t now = atomic_load(&p->runs);
    if (now != seen) return now;
    pause_a_moment();
  }
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleeping, 1);
  while (atomic_load(&p->runs) == seen) pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleeping, 1);
  pthread_mutex_unlock(&p->lock);
  return atomic_load(&p->runs);
}

static void* work(void* data) {
  const worker* self = data;
  pool* p = self->pool;
  for (uint_fast64_t seen = 0;;) {
    seen = wait_for_run(p, seen);
    if (atomic_load(&p->is_over)) return NULL;
    take_parts(p, self->number);
  }
}

static void begin_run(pool* p) {
  atomic_fetch_add(&p->runs, 1);
  if (atomic_load(&p->sleeping) == 0) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

void pool_run(void* data, body_function* body, void* task, int64_t tiles) {
  pool* p = data;
  p->body = body;
  p->task = task;
  p->tiles = tiles;
  p->part = tiles / (8 * p->threads) + 1;
  p->parts = (tiles + p->part - 1) / p->part;
  atomic_store(&p->done, 0);
  atomic_store(&p->left, p->parts);
  begin_run(p);
  take_parts(p, 0);
  while (atomic_load(&p->done) < p->parts) pause_a_moment();
}

pool* pool_start(int threads) {
  pool* p = aligned_alloc(LINE, sizeof *p);
  if (p == NULL) return NULL;
  memset(p, 0, sizeof *p);
  p->workers = calloc((size_t)threads, sizeof *p->workers);
  p->threads = 1;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  for (int i = 1; i < threads && p->workers != NULL; ++i) {
    p->workers[i] = (worker){p, i, 0};
    if (pthread_create(&p->workers[i].thread, NULL, work, &p->workers[i]) != 0) break;
    p->threads = i + 1;
  }
  if (p->threads == threads) return p;
  pool_stop(p);
  return NULL;
}

void pool_stop(pool* p) {
  atomic_store(&p->is_over, 1);
  begin_run(p);
  for (int i = 1; i < p->threads; ++i) pthread_join(p->workers[i].thread, NULL);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  free(p->workers);
  free(p);
}
