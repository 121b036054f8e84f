import { toStreamPartId, type StorageAnswer } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { chainOf, identityOf, streamId, times } from '../resend/batches.testkit.ts'
import { resendLimits } from '../resend/limits.ts'
import { latestLimits } from './limits.ts'
import { readTable, type ReadTableModules } from './read-table.ts'

const { idleTimeoutMs, minSourceBytesPerSecond } = resendLimits
const small = chainOf(times(1, 1_000), { contentBytes: 200 })
const large = chainOf([1, 2], { contentBytes: 100_000 })
const batchBytes = small[0]?.bytes.length ?? expect.fail()

/** Asks a storage node that answers a row each `everyMs`; what came, and after how long. */
async function ask(
  everyMs: number,
  batches = small,
  maxTableBytes: number = latestLimits.maxTableBytes,
): Promise<{ readonly result: unknown; readonly tookMs: number }> {
  const clock = new VirtualClock()
  let answer: (answer: StorageAnswer) => void = () => {}
  const asked = Promise.withResolvers<void>()
  const link = {
    requestId: 1,
    send: async ({ type }: { readonly type: string }) => {
      if (type === 'askTable') asked.resolve()
      return true
    },
    close: () => {},
  }
  const modules = {
    ...{ clock, limits: resendLimits, tokens: { tokenFor: () => new Uint8Array() } },
    node: { hasCapability: () => true },
    requests: {
      open: async (_: unknown, __: unknown, listener: { onAnswer: typeof answer }) => {
        answer = listener.onAnswer
        return link
      },
    },
  } as unknown as ReadTableModules
  const request = { streamPartId: toStreamPartId(streamId, 0), tag: undefined }
  const { nodeId } = identityOf('storage')
  let isOver = false
  const reading = readTable(
    request,
    { nodeId, address: '' } as never,
    { ...latestLimits, maxTableBytes },
    modules,
    new AbortController().signal,
  )
    .catch((error: unknown) => error)
    .finally(() => (isOver = true))
  await asked.promise
  const beganMs = clock.monotonicMs()
  for (const batch of batches) {
    if (isOver) break
    clock.advanceBy(everyMs)
    await new Promise(setImmediate)
    answer({ type: 'resendData', requestId: 1, batch })
  }
  const tookMs = clock.monotonicMs() - beganMs
  answer({ type: 'resendEnd', requestId: 1, code: '', text: '' })
  return { result: await reading, tookMs }
}

it('takes a table as slowly as history may come', async () => {
  const { result } = await ask((batchBytes / minSourceBytesPerSecond) * 1_000)
  expect(result).toEqual(small)
  expect((await ask(6_000, large)).result).toEqual(large)
})

it('gives up a storage node that answers again and again, and little', async () => {
  const { result, tookMs } = await ask(idleTimeoutMs - 1)
  expect(result).toMatchObject({ code: 'RESEND_TIMEOUT' })
  expect(tookMs).toBeLessThan(3 * idleTimeoutMs)
})

it('takes no more than it may, and says so', async () => {
  const three = small.slice(0, 3)
  const bytes = three.reduce((sum, batch) => sum + batch.bytes.length + latestLimits.tableBatchBytes, 0)
  expect((await ask(1, three, bytes)).result).toEqual(three)
  const { result } = await ask(1, three, bytes - 1)
  expect(result).toMatchObject({ code: 'TABLE_TOO_LARGE', message: expect.stringContaining(`${bytes - 1}`) })
})
