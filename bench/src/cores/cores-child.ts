import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  createIdentity,
  loadCrypto,
  openVerification,
  parsePrivateKey,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'

/** What the bench has the node under test do. It runs in a process of its own, so that it can be kept to some cores. */
const calls = { start, figures }
export type CoresCalls = typeof calls

export interface CoresNode {
  readonly privateKey: string
  readonly tracker: { readonly nodeId: NodeId; readonly url: string }
  readonly streamPartIds: readonly StreamPartId[]
  /** Threads that verify beside its own. */
  readonly workers: number
}

let node: NetworkNode | undefined

async function start({ privateKey, tracker, streamPartIds, workers }: CoresNode): Promise<void> {
  const crypto = await loadCrypto()
  const created = createNetworkNode(
    { transports: { websocket: {}, webrtc: false } },
    {
      identity: createIdentity(parsePrivateKey(privateKey), crypto),
      ...{
        crypto,
        clock: systemClock,
        random: systemRandom,
        verification: openVerification(workers, systemClock),
      },
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor: () => [tracker], onChange: () => () => {} },
    },
  )
  node = created
  await created.start()
  for (const streamPartId of streamPartIds) created.join(streamPartId)
  await Promise.all(streamPartIds.map((id) => created.waitForNeighbours(id, { count: 4 })))
}

/** So far. */
function figures() {
  const counters = node?.metrics().counters ?? {}
  const { user, system } = process.threadCpuUsage()
  return { cpuUs: cpuUs(), mainUs: user + system, verifiedAside: counters['data.verifiedAside'] ?? 0 }
}

answerCalls(calls)
