import { toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { batchAt, CoreScript, data, join, publish, startMs, streamId } from './core.testkit.ts'
import { SharedBytes, type SharingTable } from './shared-bytes.ts'

/** A table of entries of so many bytes each. */
class Table implements SharingTable {
  readonly #shared: SharedBytes
  #entries: number[] = []

  constructor(shared: SharedBytes) {
    this.#shared = shared
  }

  get bytes(): number {
    return this.#entries.reduce((sum, bytes) => sum + bytes, 0)
  }

  get entries(): readonly number[] {
    return this.#entries
  }

  add(bytes: number): void {
    this.#entries.push(bytes)
    this.#shared.grow(this, bytes)
    this.#shared.limit()
  }

  makeRoom(): void {
    this.#shared.grow(this, -(this.#entries.shift() ?? 0))
  }
}

describe('bytes that stream parts share', () => {
  it('are given up by the one that has most, whoever adds', () => {
    const shared = new SharedBytes(100)
    const [large, small] = [new Table(shared), new Table(shared)]
    for (let i = 0; i < 9; i++) large.add(10)
    for (let i = 0; i < 4; i++) small.add(5)
    expect([large.bytes, small.bytes, shared.total]).toEqual([80, 20, 100])
    for (let i = 0; i < 100; i++) large.add(10)
    expect(small.entries).toEqual([5, 5, 5, 5])
    expect(shared.total).toBeLessThanOrEqual(100)
  })

  it('are shared evenly by those that all want more', () => {
    const shared = new SharedBytes(1_000)
    const tables = Array.from({ length: 5 }, () => new Table(shared))
    for (let i = 0; i < 1_000; i++) for (const [at, table] of tables.entries()) table.add(at + 1)
    expect(shared.total).toBeLessThanOrEqual(1_000)
    for (const { bytes } of tables) expect(bytes).toBeGreaterThan(140)
  })

  it('hold one entry that is too large by itself no longer than that', () => {
    const shared = new SharedBytes(100)
    const table = new Table(shared)
    table.add(101)
    expect([table.bytes, shared.total]).toEqual([0, 0])
  })
})

it('leave a stream part what it keeps for its neighbours while another is flooded', () => {
  const script = new CoreScript({ maxRecentBytesTotal: 20_000 }).withNeighbours(2, 3)
  script.run({ ...join, streamPartId: toStreamPartId(streamId, 1) })
  const content = Array<number>(1_000).fill(0)
  const flood = (ms: number) => script.run(publish(batchAt([startMs + ms], { partition: 1, content })))
  for (let ms = 0; ms < 50; ms++) flood(ms)
  for (let ms = 0; ms < 20; ms++) script.run(data(2, batchAt([startMs + ms])))
  for (let ms = 50; ms < 100; ms++) flood(ms)
  const [quiet, flooded] = [...script.core.streamParts].map(({ recent }) => recent)
  expect(quiet?.size).toBe(20)
  expect((quiet?.bytes ?? 0) + (flooded?.bytes ?? 0)).toBeGreaterThan(15_000)
})
