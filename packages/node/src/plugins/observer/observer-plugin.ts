import type { Message, Subscription } from '@runnel/client'
import { toStreamPartId } from '@runnel/protocol'
import { z } from 'zod'
import type { ObservedChain, ObserverStatus } from '../../snapshot.ts'
import type { Plugin, PluginDefinition } from '../plugin.ts'
import { createChainAccount, type ChainAccount } from './chain-account.ts'
import { createLatencyHistogram } from './latency-histogram.ts'

/** Message chains with accounts of their own; messages of further chains are counted together. */
const maxChains = 1000

const schema = z
  .strictObject({
    streams: z
      .array(z.string())
      .max(64)
      .default([])
      .describe('Streams to subscribe to, and whose delivered and missing messages and latency to record.'),
  })
  .prefault({})

type ChainId = Pick<ObservedChain, 'streamPartId' | 'publisherId' | 'messageChainId'>

type ObserverConfig = z.output<typeof schema>

export interface ObserverPlugin extends Plugin {
  status(): ObserverStatus
}

/** Subscribes to streams and keeps account of what arrives: whether every message came exactly once, and how fast. */
export const observerPlugin = {
  name: 'observer',
  schema,
  create: createObserverPlugin,
} as const satisfies PluginDefinition<ObserverConfig, ObserverPlugin>

function createObserverPlugin({ streams }: ObserverConfig): ObserverPlugin {
  const latency = createLatencyHistogram()
  // Without contents of messages, which are anybody's, and large.
  const chains = new Map<string, ChainId & { readonly account: ChainAccount }>()
  let subscriptions: readonly Subscription[] = []
  let unaccounted = 0

  const record = (message: Message) => {
    latency.record(Date.now() - message.timestamp)
    const { publisherId, messageChainId, timestamp, sequenceNumber } = message
    const streamPartId = toStreamPartId(message.streamId, message.partition)
    const key = `${streamPartId} ${publisherId} ${messageChainId}`
    let chain = chains.get(key)
    if (!chain) {
      if (chains.size >= maxChains) {
        unaccounted++
        return
      }
      chain = { streamPartId, publisherId, messageChainId, account: createChainAccount() }
      chains.set(key, chain)
    }
    chain.account.record({ timestamp, sequenceNumber }, message.previous)
  }
  return {
    start: async ({ client, logger }) => {
      const subscribe = (stream: string) => {
        const onEnded = (err: Error) => logger.warn({ err, stream }, 'a stream is observed no longer')
        return client.subscribe(stream, { onEnded }, record)
      }
      subscriptions = await Promise.all(streams.map(subscribe))
    },
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()))
      subscriptions = []
    },
    status: () => ({
      observed: [...chains.values()].map(({ account, ...id }) => ({ ...id, ...account.totals() })),
      latencyMs: latency.summary(),
      unaccounted,
    }),
  }
}
