import { layoutRequest, type GraphShape, type LayoutAnswer } from './layout-input.ts'

/** Where the worker's script is; the page says it, for its name changes with its content. */
function workerUrl(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=layout-worker]')?.content ?? ''
}

/** Has overlays laid out by a worker. `onPositions` is called with every picture of the newest shape. */
export class LayoutClient {
  readonly #worker = new Worker(workerUrl(), { type: 'module' })
  #generation = 0
  #signature = ''

  /** `onFailure`: the worker could not be loaded, or broke. */
  constructor(onPositions: (positions: Float32Array, resting: boolean) => void, onFailure: () => void) {
    this.#worker.addEventListener('error', onFailure)
    this.#worker.addEventListener('message', ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.generation === this.#generation) onPositions(data.positions, data.resting)
    })
  }

  /** Lays a shape out, unless it is the same as before. True when it is another. */
  show(shape: GraphShape, tall: boolean): boolean {
    if (shape.signature === this.#signature) return false
    this.#signature = shape.signature
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches
    this.#worker.postMessage(layoutRequest(shape, ++this.#generation, { tall, still }))
    return true
  }

  stop(): void {
    this.#worker.terminate()
  }
}
