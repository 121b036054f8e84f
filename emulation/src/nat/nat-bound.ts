import { giveUpAfterMs } from './nat-pair.ts'
import { expectedOf, helperSets } from './nat-scenarios.ts'
import type { NatOptions } from './run-nat.ts'

/** Proving what the NATs do, and coturn. */
const startingMs = 120_000
/** Two processes that start and end, the namespaces of a pair, and the seconds for which a link must stay as it is: seven seconds on two idle cores. */
const pairMs = 30_000

/**
 * By when all pairs are done, in whole minutes: each takes no more than four times its time on two idle cores, and those that theory leaves without a
 * link wait until they are given up. A slower machine needs `--minutes`.
 */
export function natMinutes({ repeats, helpers, scenarios }: NatOptions): number {
  const pairsMs = helpers
    .flatMap((set) => scenarios.map((scenario) => expectedOf(scenario, helperSets[set])))
    .reduce((sum, expected) => sum + pairMs + (expected === 'none' ? giveUpAfterMs : 0), 0)
  // One pair may fail against theory, so that the command says which.
  return Math.ceil((startingMs + repeats * pairsMs + giveUpAfterMs) / 60_000)
}
