import { ArrivalRing } from '../core/arrivals.ts'
import type { Flow, Share } from '../core/plan.ts'
import type { LoadWindow } from './generator.ts'
import { Metronome, preciseNow } from './metronome.ts'

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
      for (const [flow, ring] of rings.entries()) takeAll(ring, flow, onDue)
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

function takeAll(ring: ArrivalRing, flow: number, onDue: (message: DueMessage) => void): void {
  for (let due = ring.take(preciseNow()); due !== undefined; due = ring.take(preciseNow()))
    onDue({ publisher: due.publisher, flow, intendedMs: due.intendedMs })
}
