import type { BuiltBatch, UrgentFields } from '@runnel/protocol'
import type { UrgentPublisher } from '../world/urgent-publisher.ts'

/** Pictures in three temporal layers, as encoders call L1T3: of four one is of the base, one of the middle, two of the top. */
const layers = ['base', 'top', 'middle', 'top'] as const
export type Layer = (typeof layers)[number]

/** Of the bytes of four pictures. */
const shares: Readonly<Record<Layer, number>> = { base: 0.5, middle: 0.2, top: 0.15 }
const priorities: Readonly<Record<Layer, number>> = { base: 100, middle: 110, top: 120 }
export const picturesPerS = 30
/** A group begins with a picture that needs no other, twice as large as the base otherwise. */
const picturesOfGroup = 120
/** What a message costs beside its content. */
const overheadBytes = 250
const defaultLifetimeMs = 400

/** Makes pictures as an encoder does that is told a rate: every one has about the size that it asks for. */
export class Camera {
  readonly #publisher: UrgentPublisher
  readonly #lifetimeMs: number
  #pictures = 0

  constructor(publisher: UrgentPublisher, lifetimeMs = defaultLifetimeMs) {
    this.#publisher = publisher
    this.#lifetimeMs = lifetimeMs
  }

  next(kbitPerS: number): BuiltBatch {
    const number = this.#pictures++
    const object = number % picturesOfGroup
    const layer = layers[number % layers.length] ?? 'base'
    const bytesOfFour = (kbitPerS * 1000 * layers.length) / picturesPerS / 8
    const bytes = bytesOfFour * shares[layer] * (object === 0 ? 2 : 1) - overheadBytes
    return this.#publisher.next(new Uint8Array(Math.max(1, Math.round(bytes))), {
      ...{
        lifetimeMs: this.#lifetimeMs,
        priority: priorities[layer],
        group: Math.floor(number / picturesOfGroup),
        object,
      },
      order: 'newest',
    })
  }
}

/** The layer of a picture. */
export function layerOf({ priority }: Pick<UrgentFields, 'priority'>): Layer {
  return (Object.keys(priorities) as Layer[]).find((layer) => priorities[layer] === priority) ?? 'top'
}
