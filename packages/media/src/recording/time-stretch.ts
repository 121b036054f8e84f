/** Samples of one piece, and of the half by which it overlaps the next: 30 and 15 ms at 48 kHz, two periods of a low voice. */
const windowSamples = 1_440
const hopSamples = windowSamples / 2
/** A piece is looked for so far before and after its place: a period of a low voice in all. */
const toleranceSamples = 240
/** Every fourth place and sample is tried first. */
const coarse = 4

const hann = Float32Array.from(
  { length: windowSamples },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / windowSamples),
)

/**
 * Plays sound faster or slower at the same pitch: pieces of it overlap, each taken where it continues the one before the best (WSOLA: Verhelst
 * and Roelands, "An overlap-add technique based on waveform similarity", ICASSP 1993). Takes and gives samples of one channel.
 */
export class TimeStretch {
  readonly #rate: number
  #input = new Float32Array(0)
  /** Of the next piece, in `#input`. */
  #place = toleranceSamples
  /** Where the last piece goes on, in `#input`. */
  #continuation: number | undefined
  #tail = new Float32Array(hopSamples)
  #output = new Float32Array(0)

  constructor(rate: number) {
    this.#rate = rate
  }

  push(samples: Float32Array): void {
    this.#input = joined(this.#input, samples)
    while (this.#place + toleranceSamples + windowSamples <= this.#input.length) this.#takePiece()
    const done = Math.floor(Math.min(this.#place - toleranceSamples, this.#continuation ?? Infinity))
    this.#input = this.#input.slice(done)
    this.#place -= done
    if (this.#continuation !== undefined) this.#continuation -= done
  }

  /** So many samples; undefined while there are fewer. */
  pull(samples: number): Float32Array | undefined {
    if (this.#output.length < samples) return undefined
    const pulled = this.#output.slice(0, samples)
    this.#output = this.#output.slice(samples)
    return pulled
  }

  #takePiece(): void {
    const place = Math.round(this.#place)
    const from = this.#continuation === undefined ? place : this.#mostAlike(this.#continuation, place)
    const piece = this.#input.subarray(from, from + windowSamples).map((sample, i) => sample * (hann[i] ?? 0))
    const ready = piece.slice(0, hopSamples).map((sample, i) => sample + (this.#tail[i] ?? 0))
    this.#output = joined(this.#output, ready)
    this.#tail = piece.slice(hopSamples)
    this.#continuation = from + hopSamples
    this.#place += hopSamples * this.#rate
  }

  /** The place near that one where the sound is the most like what follows the last piece. */
  #mostAlike(continuation: number, place: number): number {
    const nearest = (center: number, reach: number, step: number): number => {
      let [best, likeness] = [center, -Infinity]
      for (let from = center - reach; from <= center + reach; from += step) {
        const found = this.#likeness(continuation, from, step)
        if (found > likeness) [best, likeness] = [from, found]
      }
      return best
    }
    const rough = nearest(place, toleranceSamples - coarse, coarse)
    return nearest(rough, coarse - 1, 1)
  }

  /** Normalised correlation of the halves that begin there. */
  #likeness(a: number, b: number, step: number): number {
    const input = this.#input
    let product = 0
    let energy = 1e-9
    for (let i = 0; i < hopSamples; i += step) {
      const x = input[a + i] ?? 0
      const y = input[b + i] ?? 0
      product += x * y
      energy += y * y
    }
    return product / Math.sqrt(energy)
  }
}

function joined(a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
