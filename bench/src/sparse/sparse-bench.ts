import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  buildBatch,
  loadCrypto,
  parseStreamPartId,
  toStreamId,
  toStreamPartId,
  type BuiltBatch,
  type Crypto,
  type Identity,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { beginPhase, showProgress } from '../phase.ts'
import { ChildCalls } from '../child-calls.ts'
import { LineTracker } from '../relay/scripted-tracker.ts'
import { percentile, round } from '../statistics.ts'
import { newIdentity } from '../swarm.ts'
import type { SparseCalls } from './sparse-child.ts'

export interface SparseOptions {
  readonly chains: number
  readonly rangesPerChain: number
  /** Publishing stops after this long, however far it is. */
  readonly maxSeconds: number
}

/** Memory is looked at so often while messages flow. */
const looks = 20

/**
 * What a node holds, and how long its ticks take, while one publisher leaves a gap before each message of many chains;
 * beside as many messages of the same size without gaps. The node is in a process of its own.
 */
export async function sparseBench(options: SparseOptions) {
  beginPhase('without gaps')
  const dense = await run(options, false)
  beginPhase('with gaps')
  const sparse = await run(options, true)
  return {
    bench: 'sparse',
    ...options,
    sparse,
    baseline: { dense },
    ratio: { heldMiB: round(sparse.heldMiB / dense.heldMiB) },
  }
}

async function run({ chains, rangesPerChain, maxSeconds }: SparseOptions, isSparse: boolean) {
  const crypto = await loadCrypto()
  const child = new ChildCalls<SparseCalls>(
    fork(fileURLToPath(new URL('sparse-child.ts', import.meta.url)), {
      execArgv: ['--conditions=runnel-src', '--expose-gc'],
    }),
  )
  const tracker = new LineTracker(crypto)
  await tracker.start()
  const publisher = newIdentity(crypto)
  const streamPartId = toStreamPartId(toStreamId(`${publisher.nodeId}/sparse`), 0)
  const address = { nodeId: tracker.nodeId, url: tracker.url }
  const node = senderNode(crypto, publisher, address)
  tracker.line = [node.nodeId, await child.call('nodeId')]
  tracker.streamPartId = streamPartId
  try {
    await node.start()
    node.join(streamPartId, { fillGaps: false })
    await Promise.all([child.call('start', address, streamPartId), node.waitForNeighbours(streamPartId)])
    const idle = await child.call('figures')
    const source = new ChainSource({ crypto, publisher, streamPartId, isSparse })
    const endMs = systemClock.monotonicMs() + maxSeconds * 1000
    const ticksMs: number[] = []
    let heldBytes = 0
    let sentBytes = 0
    let sent = 0
    const total = chains * rangesPerChain
    showProgress(() => `${sent} of ${total} messages sent`)
    while (sent < total && systemClock.monotonicMs() < endMs) {
      const batch = source.next(sent % chains)
      sentBytes += batch.bytes.length
      if (!node.publish(batch)) await node.writable(streamPartId)
      sent++
      // Lets the queue out: nothing is sent before the turn ends.
      if (sent % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (sent % Math.ceil(total / looks) !== 0 && sent !== total) continue
      const figures = await child.call('figures')
      heldBytes = Math.max(heldBytes, figures.heldBytes)
      ticksMs.push(...figures.ticksMs)
    }
    await child.call('arrived', sent)
    const { counters } = await child.call('figures')
    return {
      messages: sent,
      sentMiB: round(sentBytes / 2 ** 20),
      heldMiB: round((heldBytes - idle.heldBytes) / 2 ** 20),
      ticks: ticksMs.length,
      tickP50Ms: round(percentile(ticksMs, 0.5)),
      tickP99Ms: round(percentile(ticksMs, 0.99)),
      tickMaxMs: round(Math.max(0, ...ticksMs)),
      rangesOpened: counters['gap.opened'] ?? 0,
      rangesDropped: counters['dedup.rangesDropped'] ?? 0,
    }
  } finally {
    await node.stop()
    await tracker.stop()
    await child.stop()
  }
}

/** Keeps nothing of what it sends. */
function senderNode(
  crypto: Crypto,
  identity: Identity,
  tracker: { readonly nodeId: Identity['nodeId']; readonly url: string },
): NetworkNode {
  return createNetworkNode(
    { transports: { websocket: {}, webrtc: false }, limits: { maxMissingRanges: 1, maxRecentBatches: 1 } },
    {
      identity,
      crypto,
      clock: systemClock,
      random: systemRandom,
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor: () => [tracker], onChange: () => () => {} },
    },
  )
}

interface ChainSourceOptions {
  readonly crypto: Crypto
  readonly publisher: Identity
  readonly streamPartId: StreamPartId
  readonly isSparse: boolean
}

/** Signs small messages of many chains, each in a batch of its own. */
class ChainSource {
  readonly #options: ChainSourceOptions
  readonly #newest = new Map<number, MessageRef>()
  #sequence = 0

  constructor(options: ChainSourceOptions) {
    this.#options = options
  }

  next(chain: number): BuiltBatch {
    const { crypto, publisher, streamPartId, isSparse } = this.#options
    const timestamp = systemClock.now()
    const before = this.#newest.get(chain)
    // Odd sequence numbers are never used.
    const place = { timestamp, sequenceNumber: (this.#sequence += 2) }
    const missing = { timestamp, sequenceNumber: place.sequenceNumber - 1 }
    this.#newest.set(chain, place)
    const message = {
      ...place,
      previous: isSparse && before !== undefined ? missing : before,
      contentType: 0,
      encryptionType: 0,
      groupKeyId: '',
      content: new Uint8Array(4),
    }
    const { streamId, partition } = parseStreamPartId(streamPartId)
    const id = { streamId, partition, publisherId: publisher.nodeId, messageChainId: `chain ${chain}` }
    return buildBatch({ chain: id, messages: [message] }, crypto, publisher)
  }
}
