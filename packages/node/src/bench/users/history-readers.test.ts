import { expect, it, vi } from 'vitest'
import { preciseNow } from '../load/metronome.ts'
import { historyReaders } from './history-readers.ts'
import type { UserOptions } from './user.ts'

const messages = [1, 2].map((byte) => ({ content: new Uint8Array([byte]) }))
vi.mock('@runnel/client', () => ({
  createClient: () => Promise.resolve({ resend: () => messages, close: () => Promise.resolve() }),
}))

it('counts the time to the first message from when the reader was due, however late it begins', async () => {
  const [delays, contents]: [number[], Uint8Array[]] = [[], []]
  const lateMs = 3_600_000
  await historyReaders(2).open({
    ...{
      plan: { links: 'websocket' },
      place: {},
      role: { number: 0 },
      part: { streamId: '0x/s', partition: 0 },
    },
    intendedMs: preciseNow() - lateMs,
    onMessage: (content: Uint8Array) => contents.push(content),
    onDelay: (ms: number) => delays.push(ms),
  } as unknown as UserOptions)
  expect(contents).toHaveLength(2)
  expect(delays).toHaveLength(1)
  expect(delays[0]).toBeGreaterThanOrEqual(lateMs)
})
