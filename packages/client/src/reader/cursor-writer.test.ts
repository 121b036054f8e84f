import type { ReaderCursor } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { beforeEach, describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { CursorWriter } from './cursor-writer.ts'
import { readerLimits } from './limits.ts'

const { cursorIntervalMs, minReaderBackoffMs } = readerLimits
const failure = clientError('NOT_STORED_IN_TIME', 'a test')

let clock: VirtualClock
let version: number
/** What is being written, and how it ends. */
let writes: { readonly version: number; resolve(): void; reject(error: unknown): void }[]
let failed: unknown[]
let writer: CursorWriter
beforeEach(() => {
  clock = new VirtualClock({ startMs: 0 })
  version = 0
  writes = []
  failed = []
  writer = new CursorWriter(
    { stored: 0 },
    {
      clock,
      version: () => version,
      cursor: () => ({ version, cursor: { generation: version, floorMs: 0, chains: [] } }),
      write: ({ generation }: ReaderCursor) =>
        new Promise((resolve, reject) => writes.push({ version: generation, resolve, reject })),
      onFailed: (error) => failed.push(error),
    },
  )
})
const change = () => {
  version++
  writer.touch()
}
const settle = () => new Promise(setImmediate)
const written = () => writes.map((write) => write.version)

describe('a cursor is written', () => {
  it('at once after a change, and then many changes together', async () => {
    change()
    clock.advanceBy(0)
    expect(written()).toEqual([1])
    change()
    change()
    clock.advanceBy(10 * cursorIntervalMs)
    // One after the other.
    expect(written()).toEqual([1])
    writes[0]?.resolve()
    await settle()
    clock.advanceBy(0)
    expect(written()).toEqual([1, 3])
    writes[1]?.resolve()
    await settle()
    change()
    clock.advanceBy(cursorIntervalMs - 1)
    expect(written()).toEqual([1, 3])
    clock.advanceBy(1)
    expect(written()).toEqual([1, 3, 4])
  })

  it('sooner where somebody waits, who is told when what there was is stored', async () => {
    await writer.flush()
    change()
    clock.advanceBy(0)
    const first = writer.flush()
    change()
    const second = writer.flush()
    let isSecond = false
    void second.then(() => (isSecond = true))
    writes[0]?.resolve()
    await first
    expect(isSecond).toBe(false)
    clock.advanceBy(readerLimits.minCursorIntervalMs)
    writes[1]?.resolve()
    await second
  })

  it('again after a pause when it was not stored, and whoever waits is told', async () => {
    change()
    clock.advanceBy(0)
    const flushed = writer.flush()
    writes[0]?.reject(failure)
    await expect(flushed).rejects.toBe(failure)
    expect(failed).toEqual([failure])
    clock.advanceBy(Math.max(cursorIntervalMs, minReaderBackoffMs))
    expect(written()).toEqual([1, 1])
    writes[1]?.resolve()
    await settle()
    await writer.flush()
  })

  it('no more once it is closed', async () => {
    change()
    const closed = clientError('CLIENT_CLOSED')
    const waiting = writer.flush()
    writer.close(closed)
    await expect(waiting).rejects.toBe(closed)
    await expect(writer.flush()).rejects.toBe(closed)
    clock.advanceBy(10 * cursorIntervalMs)
    expect(written()).toEqual([])
  })

  it('with nobody to tell when what was being written as it was closed fails, however it does', async () => {
    change()
    clock.advanceBy(0)
    writer.close(clientError('CLIENT_CLOSED'))
    // An unhandled rejection fails this run.
    writes[0]?.reject(AbortSignal.abort().reason)
    await settle()
    expect(failed).toEqual([])
  })
})
