import type { Message, Subscription } from '@runnel/client'
import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { ObservedChain } from '../../snapshot.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { createChainAccount, type ChainAccount } from './chain-account.ts'
import { createLatencyHistogram, type LatencySummary } from './latency-histogram.ts'

/** Message chains accounts are kept of; messages of further ones are counted together. */
const maxChains = 1000

export interface ObserverPlugin extends Plugin {
  observed(): readonly ObservedChain[]
  latency(): LatencySummary | undefined
  /** Messages of chains beyond the limit. */
  readonly unaccounted: number
}

/** Subscribes to streams and keeps account of what arrives: whether every message came exactly once, and how fast. */
export function createObserverPlugin({ streams }: { readonly streams: readonly string[] }): ObserverPlugin {
  const latency = createLatencyHistogram()
  const chains = new Map<string, { readonly first: Message; readonly account: ChainAccount }>()
  let subscriptions: readonly Subscription[] = []
  let unaccounted = 0

  const record = (message: Message) => {
    latency.record(performance.timeOrigin + performance.now() - message.timestamp)
    const { streamId, partition, publisherId, messageChainId } = message
    const key = `${streamId}#${partition} ${publisherId} ${messageChainId}`
    let chain = chains.get(key)
    if (!chain) {
      if (chains.size >= maxChains) {
        unaccounted++
        return
      }
      chain = { first: message, account: createChainAccount() }
      chains.set(key, chain)
    }
    chain.account.record(message, message.previous)
  }
  return {
    name: 'observer',
    start: async ({ client }: PluginContext) => {
      subscriptions = await Promise.all(
        streams.map((stream) => client.subscribe(toStreamId(stream), {}, record)),
      )
    },
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()))
      subscriptions = []
    },
    observed: () => [...chains.values()].map(({ first, account }) => describeChain(first, account)),
    latency: () => latency.summary(),
    get unaccounted() {
      return unaccounted
    },
  }
}

function describeChain(first: Message, account: ChainAccount): ObservedChain {
  const { streamId, partition, publisherId, messageChainId } = first
  return {
    streamPartId: toStreamPartId(streamId, partition),
    publisherId,
    messageChainId,
    ...account.totals(),
  }
}
