import { ArrivalRing, type Arrival } from '../core/arrivals.ts'
import type { Flow, Share } from '../core/plan.ts'
import type { LoadWindow } from './generator.ts'
import { Metronome, preciseNow } from './metronome.ts'

/** How long messages that are due are published in one turn of the event loop: others want turns, too. */
const maxTurnMs = 5

/** A message that is due. */
export interface DueMessage {
  /** Index of the publisher. */
  readonly publisher: number
  readonly flow: number
  /** By this process's clock. */
  readonly intendedMs: number
}

/** Calls back for each message that is due in a window of time, by the clock of this process. */
export class Publishing {
  /** Resolves after the last. */
  readonly done: Promise<void>
  readonly #metronome: Metronome

  constructor(
    {
      publishers,
      flows,
      share,
    }: { readonly publishers: number; readonly flows: readonly Flow[]; readonly share: Share },
    { startMs, endMs }: Pick<LoadWindow, 'startMs' | 'endMs'>,
    onDue: (message: DueMessage) => void,
  ) {
    const rings = flows.map(({ ratePerS }, number) => {
      const phase = (share.index + number / flows.length) / share.of
      return new ArrivalRing({ publishers, ratePerS, startMs, endMs, phase })
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.done = promise
    this.#metronome = new Metronome(() => {
      for (const [flow, ring] of rings.entries())
        takeSome(ring, maxTurnMs / rings.length, (due) => onDue({ ...due, flow }))
      const nextMs = Math.min(...rings.map((ring) => ring.nextMs))
      if (nextMs === Infinity) resolve()
      return nextMs
    })
  }

  start(): void {
    this.#metronome.start()
  }

  /** Publishes at once what is due. */
  catchUp(): void {
    this.#metronome.catchUp()
  }

  /** Idempotent. */
  stop(): Promise<void> {
    return this.#metronome.stop()
  }
}

/** Takes what is due, for so long. Each takes time, in which more may become due. */
function takeSome(ring: ArrivalRing, forMs: number, onDue: (arrival: Arrival) => void): void {
  const startMs = preciseNow()
  for (let nowMs = startMs; nowMs < startMs + forMs; nowMs = preciseNow()) {
    const due = ring.take(nowMs)
    if (due === undefined) return
    onDue(due)
  }
}
