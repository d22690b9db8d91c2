/* Reads 28 rows of 28 numbers, and prints the scores of ten digits. */
#include <stdio.h>

#include "digits.h"

/* All memory that the model needs; the library itself has none. */
static char arena[DIGITS_ARENA_BYTES];

int main(void) {
  float image[28 * 28], scores[10];
  for (int i = 0; i < 28 * 28; ++i)
    if (scanf("%f", &image[i]) != 1) {
      fprintf(stderr, "expected 784 numbers, got %d\n", i);
      return 1;
    }
  int status = digits_check();
  if (status == DIGITS_OK) status = digits(image, scores, arena, sizeof arena, NULL);
  if (status != DIGITS_OK) {
    fprintf(stderr, "%s\n", digits_message(status));
    return 1;
  }
  for (int i = 0; i < 10; ++i) printf("%d %.5f\n", i, scores[i]);
  return 0;
}
