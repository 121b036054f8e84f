import { existsSync, readFileSync } from 'node:fs'

/** What a process held, or measured, at a time (Unix milliseconds): named quantities. */
export type Sample = Readonly<Record<string, number>> & { readonly atMs: number }

/** One quantity of one process over time. */
export interface Series {
  readonly process: string
  readonly quantity: string
  readonly points: readonly { readonly atMs: number; readonly value: number }[]
}

/** The samples in a file of JSON lines; none where there is no file. A last line that is not whole is left out. */
export function readSamples(file: string): Sample[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Sample)
}

export function seriesOf(process: string, samples: readonly Sample[]): Series[] {
  const quantities = new Set(samples.flatMap((sample) => Object.keys(sample)))
  quantities.delete('atMs')
  return Array.from(quantities, (quantity) => ({
    process,
    quantity,
    points: samples.flatMap((sample) => {
      const value = sample[quantity]
      return value === undefined ? [] : [{ atMs: sample.atMs, value }]
    }),
  }))
}
