import type { CounterName, Counters } from './counters.ts'
import type { OverlayEffects } from './overlay-effects.ts'

/** Counts what is dropped or refused, and says what it was. */
export function drop(
  { counters, effects }: { readonly counters: Counters; readonly effects: Pick<OverlayEffects, 'dropped'> },
  counter: CounterName,
  detail: string,
): void {
  counters[counter]++
  effects.dropped(counter, detail)
}
