#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* The state of a SplitMix64 generator (Steele, Lea and Flood, 2014): small enough that every pair of hosts has its own. */
typedef uint64_t random_state;

random_state random_seeded(uint64_t seed, uint64_t stream);
/* From 0 up to, but not including, 1. */
double random_uniform(random_state *state);
/* Normal, with mean 0 and standard deviation 1 (Box and Muller). */
double random_normal(random_state *state);

#endif
