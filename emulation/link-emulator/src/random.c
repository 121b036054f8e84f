#include "random.h"

#include <math.h>

static uint64_t next(random_state *state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

random_state random_seeded(uint64_t seed, uint64_t stream) {
  random_state of_seed = seed;
  random_state mixed = next(&of_seed) ^ stream;
  return next(&mixed);
}

double random_uniform(random_state *state) { return (double)(next(state) >> 11) * 0x1p-53; }

double random_normal(random_state *state) {
  double radius = sqrt(-2 * log(1 - random_uniform(state)));
  return radius * cos(2 * M_PI * random_uniform(state));
}
