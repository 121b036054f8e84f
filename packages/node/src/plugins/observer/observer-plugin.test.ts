import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Message } from '@runnel/client'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import type { PluginContext } from '../plugin.ts'
import { observerPlugin } from './observer-plugin.ts'

const publisherId = toNodeId(`0x${'b'.repeat(40)}`)
const streamId = toStreamId(`${publisherId}/observed`)

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

it('keeps of a chain what names it and how far it came, and no content', async () => {
  const plugin = observerPlugin.create({ streams: [streamId] })
  let deliver: (message: Message) => void = () => {}
  const client = {
    subscribe: (_: string, __: unknown, onMessage: typeof deliver) => {
      deliver = onMessage
      return Promise.resolve({ unsubscribe: () => Promise.resolve() })
    },
  }
  await plugin.start({ client } as unknown as PluginContext)
  const chains = ['first', 'second', 'third']
  const contents = chains.flatMap((messageChainId) =>
    [1, 2].map((timestamp) => {
      const content = new Uint8Array(1_000)
      const place = { streamId, partition: 0, publisherId, messageChainId, timestamp, sequenceNumber: 0 }
      deliver({ ...place, content } as unknown as Message)
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
