import type { Breach } from '../../measures/invariants/breaches.ts'
import { addJoined, FuzzActions, publishSome } from './fuzz-actions.ts'
import { chance, wholeFrom, type FuzzPlan } from './fuzz-plan.ts'
import { FuzzWorld, quietWithinMs } from './fuzz-world.ts'

export interface FuzzReport {
  readonly seed: string
  readonly plan: FuzzPlan
  /** Null when all held. */
  readonly breach: Breach | null
  readonly virtualMs: number
  /** Messages that everybody had to get, and in calm. */
  readonly floodsChecked: number
  /** Messages and gaps that applications were given. */
  readonly given: number
  readonly traceHash: string
}

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

/** One world with all that can happen in it, drawn from the seed; it ends at the first breach. */
export async function runFuzz(seed: string): Promise<FuzzReport> {
  const fuzz = await FuzzWorld.create(seed)
  const rejections: unknown[] = []
  const onRejection = (error: unknown): void => void rejections.push(error)
  process.on('unhandledRejection', onRejection)
  try {
    await new FuzzRun(fuzz).run()
  } catch (error) {
    fuzz.breaches.report('no exception', textOf(error))
  }
  // Rejections are told of at the end of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onRejection)
  if (rejections.length > 0) fuzz.breaches.report('no exception', textOf(rejections[0]))
  for (const { sim } of fuzz.nodes.values()) void sim.node.stop()
  return {
    seed,
    plan: fuzz.plan,
    breach: fuzz.breaches.first ?? null,
    virtualMs: Math.round(fuzz.nowMs),
    floodsChecked: fuzz.flooding.checked,
    given: fuzz.given,
    traceHash: fuzz.traceHash,
  }
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
    for (let i = 0; i < plan.nodes; i++) {
      await this.#pass((2 * random.next() * arrivalMs) / plan.nodes)
      this.#fuzz.disturbances++
      await addJoined(this.#fuzz)
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

  /** A topology-aware overlay goes on getting better: there is a moment at which no edge is just being replaced. */
  async #untilWhole(): Promise<void> {
    const { plan, nowMs } = this.#fuzz
    const untilMs = nowMs + (plan.overlay === 'topology-aware' ? longestExchangeMs : 0)
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

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
