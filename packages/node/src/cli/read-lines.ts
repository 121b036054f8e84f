/** One line of input, counted from 1. */
export interface Line {
  readonly number: number
  /** Without its end; undefined when it was longer than allowed. */
  readonly text: string | undefined
}

const newline = 0x0a

/** Splits bytes into lines of UTF-8. Of a line beyond `maxBytes` nothing is kept. A last line needs no newline. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  let number = 1
  let kept: Uint8Array[] = []
  let keptBytes = 0
  const keep = (bytes: Uint8Array) => {
    keptBytes += bytes.length
    if (keptBytes > maxBytes) kept = []
    else kept.push(bytes)
  }
  const take = (): Line => {
    const text = keptBytes > maxBytes ? undefined : Buffer.concat(kept).toString('utf8').replace(/\r$/, '')
    kept = []
    keptBytes = 0
    return { number: number++, text }
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
