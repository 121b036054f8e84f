import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Message } from '@runnel/client'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { PluginContext } from '../plugin.ts'
import { observerPlugin } from './observer-plugin.ts'

const publisherId = toNodeId(`0x${'b'.repeat(40)}`)
const streamId = toStreamId(`${publisherId}/observed`)

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

/** The plugin, and what gives it messages of a stream. */
async function startObserver() {
  const plugin = observerPlugin.create({ streams: [streamId] })
  let onMessage: (message: Message) => void = () => {}
  const client = {
    subscribe: (_: string, __: unknown, given: typeof onMessage) => {
      onMessage = given
      return Promise.resolve({ unsubscribe: () => Promise.resolve() })
    },
  }
  await plugin.start({ client } as unknown as PluginContext)
  const deliver = (message: Pick<Message, 'messageChainId' | 'timestamp' | 'content'>): void =>
    onMessage({ ...{ streamId, partition: 0, publisherId, sequenceNumber: 0 }, ...message } as Message)
  return { plugin, deliver }
}

afterEach(() => vi.useRealTimers())

it('keeps of a chain what names it and how far it came, and no content', async () => {
  const { plugin, deliver } = await startObserver()
  const chains = ['first', 'second', 'third']
  const contents = chains.flatMap((messageChainId) =>
    [1, 2].map((timestamp) => {
      const content = new Uint8Array(1_000)
      deliver({ messageChainId, timestamp, content })
      return new WeakRef(content)
    }),
  )
  // A reference that was made or read in this turn holds on until its end.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(contents.filter((content) => content.deref() !== undefined)).toEqual([])
  const totals = {
    delivered: 2,
    repeated: 0,
    missing: 0,
    tooOld: 0,
    last: { timestamp: 2, sequenceNumber: 0 },
  }
  const part = { streamPartId: `${streamId}#0`, publisherId }
  expect(plugin.status().observed).toEqual(
    chains.map((messageChainId) => ({ ...part, messageChainId, ...totals })),
  )
  await plugin.stop()
})

it('measures delays by the clock of dates, which is set while the machine runs', async () => {
  const { plugin, deliver } = await startObserver()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  deliver({ messageChainId: 'chain', timestamp: Date.now() - 20, content: '' })
  expect(plugin.status().latencyMs?.max).toBeCloseTo(20, 1)
  await plugin.stop()
})
