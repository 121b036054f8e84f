import type { StreamPartId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { FloodPrediction, type FloodDelays } from '../core/prediction/flood-prediction.ts'
import type { StreamPart } from '../core/stream-part.ts'
import type { RandomSource } from '../core/topology/cheapest.ts'

/** Limits of the work for predictions. */
export const predictionLimits = {
  /** Nodes from which floods are followed; if there are more, they are drawn at random. */
  maxSources: 256,
  /** Delays computed for one prediction: sources times nodes. */
  maxDelays: 1_048_576,
  /** How long a prediction is reused. */
  predictionFreshMs: 10_000,
  /** Predictions remembered; the oldest is forgotten first. */
  maxPredictions: 1_000,
  /**
   * Stream parts waiting for a prediction; a request for another one is told to try again later
   * (`predictionsRefused`).
   */
  maxWaitingPredictions: 32,
} as const

export type PredictionLimits = { readonly [L in keyof typeof predictionLimits]: number }

export interface PredictionsModules {
  readonly random: RandomSource
  /** Monotonic milliseconds. */
  nowMs(): number
  /** Resolves when other pending work has had its turn. */
  turn(): Promise<void>
}

/** The prediction for a stream part. */
export interface PropagationView {
  readonly streamPartId: StreamPartId
  /** The assumed time a node takes to check a message and forward it. */
  readonly processingMs: number
  /** Null while no round-trip time is known, or there is no receiver. */
  readonly delays: FloodDelays | null
}

interface Prediction {
  readonly view: PropagationView
  readonly madeAtMs: number
}

/** Makes predictions on request, one at a time and in small steps, and caches them for a while. */
export class Predictions {
  readonly #options: { readonly processingMs: number; readonly limits: PredictionLimits }
  readonly #modules: PredictionsModules
  readonly #made: LRU<Prediction>
  readonly #waiting = new Map<StreamPartId, Promise<PropagationView>>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    options: { readonly processingMs: number; readonly limits: PredictionLimits },
    modules: PredictionsModules,
  ) {
    this.#options = options
    this.#made = new LRU(options.limits.maxPredictions)
    this.#modules = modules
  }

  /** Undefined when too many are waiting. */
  of(part: StreamPart): Promise<PropagationView> | undefined {
    const { predictionFreshMs, maxWaitingPredictions } = this.#options.limits
    const made = this.#made.peek(part.id)
    if (made !== undefined && this.#modules.nowMs() - made.madeAtMs < predictionFreshMs)
      return Promise.resolve(made.view)
    const waiting = this.#waiting.get(part.id)
    if (waiting !== undefined) return waiting
    if (this.#waiting.size >= maxWaitingPredictions) return undefined
    const prediction = this.#last.then(() => this.#make(part)).finally(() => this.#waiting.delete(part.id))
    this.#waiting.set(part.id, prediction)
    this.#last = prediction.catch(() => {})
    return prediction
  }

  async #make(part: StreamPart): Promise<PropagationView> {
    const { processingMs, limits } = this.#options
    const { topology } = part
    const prediction = new FloodPrediction(
      {
        nodes: topology.nodes(),
        edges: topology.edges(),
        rttMs: (a, b) => part.reportedRttMs(a, b),
      },
      { processingMs, maxSources: limits.maxSources, maxDelays: limits.maxDelays },
      { random: this.#modules.random },
    )
    while (prediction.step()) await this.#modules.turn()
    const view = { streamPartId: part.id, processingMs, delays: prediction.delays ?? null }
    this.#made.set(part.id, { view, madeAtMs: this.#modules.nowMs() })
    return view
  }
}
