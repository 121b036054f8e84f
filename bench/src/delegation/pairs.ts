import { beginPhase } from '../phase.ts'
import { percentile, round } from '../statistics.ts'

/** One figure, or several, by delegates and by users themselves. */
export interface Pair<Figures> {
  readonly delegated: Figures
  readonly own: Figures
}

/** Runs both `count` times. Each is first in turn, so that neither profits from what the other warmed up. */
export async function pairs<Figures>(
  what: string,
  count: number,
  run: (delegated: boolean) => Promise<Figures>,
): Promise<Pair<Figures>[]> {
  const all: Pair<Figures>[] = []
  for (let i = 0; i < count; i++) {
    beginPhase(`${what}, pair ${i + 1} of ${count}`)
    const isDelegatedFirst = i % 2 === 0
    const first = await run(isDelegatedFirst)
    const second = await run(!isDelegatedFirst)
    all.push(isDelegatedFirst ? { delegated: first, own: second } : { delegated: second, own: first })
  }
  return all
}

/** Medians: of each side, and of the ratios of the pairs. */
export function compared<Figures>(all: readonly Pair<Figures>[], of: (figures: Figures) => number) {
  const middle = (figureOf: (pair: Pair<Figures>) => number): number =>
    round(percentile(all.map(figureOf), 0.5))
  return {
    delegated: middle(({ delegated }) => of(delegated)),
    own: middle(({ own }) => of(own)),
    ratio: middle(({ delegated, own }) => of(delegated) / of(own)),
  }
}
