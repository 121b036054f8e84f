import type { Cancel, Clock } from '@runnel/protocol'
import { TimedEvents } from './timed-events.ts'

export interface VirtualClockOptions {
  /** What `now` says at the start, in milliseconds since the Unix epoch. */
  readonly startMs?: number
}

/**
 * Time that passes only when told to. Events run in the order of their time and, at the same instant, in the order in which
 * they were scheduled, so every run is the same. Errors thrown by an event reach whoever advances the clock.
 */
export class VirtualClock implements Clock {
  /** The wall clock minus the monotonic one. */
  #wallAheadMs: number
  readonly #events = new TimedEvents()
  #elapsedMs = 0

  constructor(options: VirtualClockOptions = {}) {
    this.#wallAheadMs = options.startMs ?? Date.UTC(2025, 0, 1)
  }

  now(): number {
    return Math.floor(this.#wallAheadMs + this.#elapsedMs)
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  /** Sets the wall clock forward, or back when negative. Nothing else changes, as no time passes. */
  moveWall(byMs: number): void {
    this.#wallAheadMs += byMs
  }

  schedule(delayMs: number, fn: () => void): Cancel {
    const event = this.#events.push(this.#elapsedMs + Math.max(0, delayMs), fn)
    return () => TimedEvents.cancel(event)
  }

  endOfTurn(fn: () => void): void {
    this.#events.push(this.#elapsedMs, fn)
  }

  /** When the next event is due, by `monotonicMs`; undefined when there is none. */
  get nextAtMs(): number | undefined {
    return this.#events.nextAtMs
  }

  /** Lets `durationMs` pass and runs everything due until then. */
  advanceBy(durationMs: number): void {
    this.advanceTo(this.#elapsedMs + durationMs)
  }

  /** Like `advanceBy`, up to an instant by `monotonicMs`. Never goes back. */
  advanceTo(atMs: number): void {
    while (this.step(atMs));
    this.#elapsedMs = Math.max(this.#elapsedMs, atMs)
  }

  /** Runs events until none is left, or `maxMs` have passed. True when none is left. */
  runUntilIdle(maxMs = Number.POSITIVE_INFINITY): boolean {
    const untilMs = this.#elapsedMs + maxMs
    while (this.step(untilMs));
    return this.nextAtMs === undefined
  }

  /** Runs the next event if it is due by `untilMs`; false when there is none. */
  step(untilMs = Number.POSITIVE_INFINITY): boolean {
    const event = this.#events.popUntil(untilMs)
    if (event === undefined) return false
    this.#elapsedMs = event.atMs
    event.fn()
    return true
  }
}
