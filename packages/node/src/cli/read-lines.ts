import { Pieces } from '../pieces.ts'

/** One line of input, counted from 1. */
export class Line {
  readonly number: number
  /** Without its end; undefined when it was longer than allowed. */
  readonly bytes: Uint8Array | undefined

  constructor(number: number, bytes: Uint8Array | undefined) {
    this.number = number
    this.bytes = bytes
  }

  /** As UTF-8; what is none becomes U+FFFD. */
  get text(): string | undefined {
    return this.bytes && new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.bytes)
  }
}

const newline = 0x0a
const carriageReturn = 0x0d

/** Splits bytes into lines. Of a line beyond `maxBytes` nothing is kept. A last line needs no newline. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  let number = 1
  let keptBytes = 0
  const kept = new Pieces()
  const keep = (bytes: Uint8Array) => {
    keptBytes += bytes.length
    if (keptBytes > maxBytes) kept.take()
    else kept.push(bytes)
  }
  const take = (): Line => {
    const bytes = kept.take()
    const isWhole = keptBytes <= maxBytes
    keptBytes = 0
    return new Line(
      number++,
      isWhole ? bytes.subarray(0, bytes.at(-1) === carriageReturn ? -1 : undefined) : undefined,
    )
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }
  if (keptBytes > 0) yield take()
}
