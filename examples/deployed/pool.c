#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void body_function(void* task, int thread, int64_t begin, int64_t end);

/* How often a thread looks for work before it sleeps: some microseconds. */
enum { LOOKS = 4000 };

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
  int64_t tiles, part;
  atomic_int_fast64_t next;     /* the first tile that nobody has */
  atomic_int working;           /* workers that have not finished the run */
  atomic_uint_fast64_t runs;    /* how many were begun */
  atomic_int sleeping, is_over; /* workers that wait for `wake` */
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
    const int64_t begin = atomic_fetch_add(&p->next, p->part);
    if (begin >= p->tiles) return;
    const int64_t end = begin + p->part < p->tiles ? begin + p->part : p->tiles;
    p->body(p->task, thread, begin, end);
  }
}

static void wait_for_run(pool* p, uint_fast64_t seen) {
  for (int i = 0; i < LOOKS; ++i) {
    if (atomic_load(&p->runs) != seen) return;
    pause_a_moment();
  }
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleeping, 1);
  while (atomic_load(&p->runs) == seen) pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleeping, 1);
  pthread_mutex_unlock(&p->lock);
}

static void* work(void* data) {
  const worker* self = data;
  pool* p = self->pool;
  for (uint_fast64_t seen = 0;; ++seen) {
    wait_for_run(p, seen);
    if (atomic_load(&p->is_over)) return NULL;
    take_parts(p, self->number);
    atomic_fetch_sub(&p->working, 1);
  }
}

static void begin_run(pool* p) {
  atomic_store(&p->working, p->threads - 1);
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
  atomic_store(&p->next, 0);
  begin_run(p);
  take_parts(p, 0);
  while (atomic_load(&p->working) > 0) pause_a_moment();
}

pool* pool_start(int threads) {
  pool* p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
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
