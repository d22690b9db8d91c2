/* Threads for deployed models: give a model's pool {threads, pool_run, pool_start(threads)}. */
#ifndef POOL_H_
#define POOL_H_

#include <stdint.h>

typedef struct pool pool;

/* So many threads in all, the caller's among them; NULL where the system has none left. */
pool* pool_start(int threads);
void pool_stop(pool* pool);

/* Has the threads call `body` for all of [0, tiles), each for the next part that is left, so that a
 * thread that is held up leaves more to the others. One caller at a time. */
void pool_run(void* pool, void (*body)(void* task, int thread, int64_t begin, int64_t end),
              void* task, int64_t tiles);

#endif /* POOL_H_ */
