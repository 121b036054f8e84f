export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** Pictures of one scene; then comes another part of the pattern. */
const picturesOfScene = 150
const side = 1024
/** Of noise: cells so large, with so much of the light. */
const octaves = [
  { cell: 128, share: 0.45 },
  { cell: 32, share: 0.3 },
  { cell: 8, share: 0.17 },
  { cell: 3, share: 0.08 },
] as const

/**
 * Pictures for measurements, the same on every machine: a pattern that is panned across, as a camera does, with a round thing in front of it that
 * goes its own way and a bar that counts. What it shows is of no importance; that it has structure of all sizes and moves is.
 */
export class TestPictures {
  readonly size: PictureSize
  readonly #pattern = pattern()

  constructor(size: PictureSize) {
    this.size = size
  }

  /** Picture `n` in I420: light, then both colours at half the width and height. */
  picture(n: number): Uint8Array {
    const { width, height } = this.size
    const bytes = new Uint8Array((width * height * 3) / 2).fill(128)
    this.#light(bytes, n)
    const half = { width: width / 2, height: height / 2 }
    for (let plane = 0; plane < 2; plane++)
      for (let y = 0; y < half.height; y++)
        for (let x = 0; x < half.width; x++)
          bytes[width * height + plane * half.width * half.height + y * half.width + x] =
            112 + ((this.#at(2 * x + n * (1 + plane), 2 * y) * 32) >> 8)
    return bytes
  }

  #light(bytes: Uint8Array, n: number): void {
    const { width, height } = this.size
    const scene = 211 * Math.floor(n / picturesOfScene)
    const [panX, panY] = [scene + Math.round(1.5 * n), scene + Math.round(40 * Math.sin(n / 40))]
    const [atX, atY] = [width * (0.5 + 0.3 * Math.sin(n / 25)), height * (0.5 + 0.25 * Math.cos(n / 17))]
    const radius = height / 5
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++) {
        const isInside = (x - atX) ** 2 + (y - atY) ** 2 < radius * radius
        bytes[y * width + x] = isInside
          ? 255 - this.#at(Math.round(x - atX) + side, Math.round(y - atY) + side)
          : this.#at(x + panX, y + panY)
      }
    const filled = Math.round((width * (n % picturesOfScene)) / picturesOfScene)
    for (let y = 0; y < height / 20; y++) bytes.fill(235, y * width, y * width + filled)
  }

  #at(x: number, y: number): number {
    return this.#pattern[(y & (side - 1)) * side + (x & (side - 1))] ?? 0
  }
}

/** Noise of several sizes, from 16 to 235. */
function pattern(): Uint8Array {
  const bytes = new Uint8Array(side * side)
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const light = octaves.reduce((sum, { cell, share }) => sum + share * noise(x / cell, y / cell, cell), 0)
      bytes[y * side + x] = 16 + Math.round(219 * Math.min(1, Math.max(0, 1.6 * (light - 0.5) + 0.5)))
    }
  return bytes
}

/** From 0 to 1, smooth between whole places. */
function noise(x: number, y: number, salt: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)]
  const [right, down] = [x - left, y - top]
  const upper = mix(hash(left, top, salt), hash(left + 1, top, salt), right)
  return mix(upper, mix(hash(left, top + 1, salt), hash(left + 1, top + 1, salt), right), down)
}

const mix = (a: number, b: number, share: number): number => a + (b - a) * share * share * (3 - 2 * share)

/** From 0 to 1. */
function hash(x: number, y: number, salt: number): number {
  let bits = Math.imul(x, 374_761_393) ^ Math.imul(y, 668_265_263) ^ Math.imul(salt, 2_246_822_519)
  bits = Math.imul(bits ^ (bits >>> 13), 1_274_126_177)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}
