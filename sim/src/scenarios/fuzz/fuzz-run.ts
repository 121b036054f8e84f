import { addGuest, addJoined, FuzzActions, publishSome, startHost } from './fuzz-actions.ts'
import { chance, drawPlan, wholeFrom } from './fuzz-plan.ts'
import { FuzzWorld, quietWithinMs } from './fuzz-world.ts'
import { drawGuestsPlan } from './guests/guests-plan.ts'
import type { SealedWorld } from './sealed-world.ts'
import { reportOf, watched, type FuzzReport } from './report.ts'

/** The first nodes come within this time. */
const arrivalMs = 8_000
const longestPauseMs = 4_000
/** Now and then nothing happens for long enough that messages must come to all. */
const calmMs = { min: 6_000, max: 15_000 }
const checkEveryMs = 250
const longestPublishPauseMs = 2_000
/** Within this there is a moment without an exchange of edges. */
const longestExchangeMs = 30_000
/** After the last message. */
const arrivingMs = 10_000
/** A key that was given up is looked for again after this, and found within that. */
const keysRestMs = 16_000
const keysComeMs = 31_000

/** One world with all that can happen in it, drawn from the seed; it ends at the first breach. */
export async function runFuzz(seed: string, thinFloods = true): Promise<FuzzReport> {
  const { fuzz } = await FuzzWorld.create(seed, drawPlan, thinFloods)
  await watched(fuzz, () => new FuzzRun(fuzz).run())
  return reportOf('anything', seed, fuzz)
}

/** The same with light clients and their hosts. */
export async function runGuests(seed: string, thinFloods = true): Promise<FuzzReport> {
  const { fuzz } = await FuzzWorld.create(seed, drawGuestsPlan, thinFloods)
  await watched(fuzz, () => new FuzzRun(fuzz).run())
  return reportOf('guests', seed, fuzz)
}

class FuzzRun {
  readonly #fuzz: FuzzWorld
  readonly #actions: FuzzActions
  #nextCheckMs = 0
  #nextPublishMs = 0

  constructor(fuzz: FuzzWorld) {
    this.#fuzz = fuzz
    this.#actions = new FuzzActions(fuzz)
  }

  async run(): Promise<void> {
    const { plan, random } = this.#fuzz
    const { hosts = 0, guests = 0 } = plan.guests ?? {}
    const arrivals = [
      ...Array<typeof addJoined>(plan.nodes).fill(addJoined),
      ...Array<typeof addJoined>(hosts).fill(startHost),
      ...Array<typeof addJoined>(guests).fill(addGuest),
    ]
    for (const arrive of arrivals) {
      await this.#pass((2 * random.next() * arrivalMs) / arrivals.length)
      this.#fuzz.disturbances++
      await arrive(this.#fuzz)
    }
    for (let i = 0; i < plan.actions && !this.#isOver; i++) {
      const calm = chance(0.2, random)
      await this.#pass(calm ? wholeFrom(calmMs.min, calmMs.max, random) : random.next() * longestPauseMs)
      await this.#actions.next()
    }
    await this.#quieten()
    await this.#pass(quietWithinMs)
    await this.#untilWhole()
    this.#fuzz.checkQuiet()
    await this.#pass(arrivingMs)
    if (this.#fuzz.sealed !== undefined) await this.#readAll(this.#fuzz.sealed)
  }

  /** Whoever has a message opens it, if it may. */
  async #readAll(sealed: SealedWorld): Promise<void> {
    await this.#pass(keysRestMs)
    await sealed.retry()
    await this.#pass(keysComeMs)
    sealed.check()
  }

  get #isOver(): boolean {
    return this.#fuzz.breaches.first !== undefined
  }

  async #quieten(): Promise<void> {
    const fuzz = this.#fuzz
    this.#actions.stopAll()
    fuzz.stopHostiles()
    await fuzz.world.startTracker()
    fuzz.lossRate = 0
    fuzz.disturbances++
  }

  /** An overlay that measures goes on getting better: there is a moment at which no edge is just being replaced. */
  async #untilWhole(): Promise<void> {
    const { plan, nowMs } = this.#fuzz
    const untilMs = nowMs + (plan.overlay === 'random' ? 0 : longestExchangeMs)
    while (!this.#isOver && !this.#fuzz.isWhole && this.#fuzz.nowMs < untilMs) await this.#pass(checkEveryMs)
  }

  /** Time passes; messages are published and everything is looked at meanwhile. */
  async #pass(durationMs: number): Promise<void> {
    const fuzz = this.#fuzz
    const untilMs = fuzz.nowMs + durationMs
    while (!this.#isOver && fuzz.nowMs < untilMs) {
      await fuzz.world.advanceTo(Math.min(untilMs, this.#nextCheckMs, this.#nextPublishMs))
      const isTroubled = this.#actions.disturbed || fuzz.lossRate > 0
      if (isTroubled) fuzz.troubledMs = fuzz.nowMs
      if (isTroubled || fuzz.hasHostiles) fuzz.disturbances++
      if (fuzz.nowMs >= this.#nextCheckMs) {
        fuzz.check()
        this.#nextCheckMs = fuzz.nowMs + checkEveryMs
      }
      if (fuzz.nowMs >= this.#nextPublishMs) {
        publishSome(fuzz)
        this.#nextPublishMs = fuzz.nowMs + 1 + fuzz.random.next() * longestPublishPauseMs
      }
    }
  }
}
