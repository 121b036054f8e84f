import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createNetworkNode } from '@runnel/network'
import { createIdentity, loadCrypto, type Crypto, type Delegation, type NodeId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { saturate } from '../flood/saturate.ts'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import { newDelegation, newIdentity, Source, Swarm } from '../swarm.ts'

export interface DelegationOptions {
  readonly nodes: number
  readonly messages: number
  /** Pairs of runs, one by delegates and one by users themselves. */
  readonly rounds: number
  /** Remembered by one node. */
  readonly delegations: number
  /** It fails when it takes longer. */
  readonly limitS: number
}

/** What it costs that delegates sign and nodes act for users, beside users that sign and act themselves. */
export function delegationBench(options: DelegationOptions) {
  return within(1000 * options.limitS, 'the benchmark', measure(options))
}

async function measure({ nodes, messages, rounds, delegations, limitS }: DelegationOptions) {
  const pairs: { delegated: Run; own: Run }[] = []
  for (let i = 0; i < rounds; i++) {
    // Each is first in turn, so that neither profits from what the other warmed up.
    const first = await run(nodes, messages, i % 2 === 0)
    const second = await run(nodes, messages, i % 2 !== 0)
    pairs.push(i % 2 === 0 ? { delegated: first, own: second } : { delegated: second, own: first })
  }
  const middle = (of: (pair: (typeof pairs)[number]) => number): number =>
    round(percentile(pairs.map(of), 0.5))
  const bytes = await bytesPerDelegation(delegations)
  return {
    ...{ bench: 'delegation', nodes, messages, rounds, limitS },
    delegated: {
      cpuUsPerDelivery: middle(({ delegated }) => delegated.cpuUsPerDelivery),
      unbatchedCpuUsPerDelivery: middle(({ delegated }) => delegated.unbatchedCpuUsPerDelivery),
      startMs: middle(({ delegated }) => delegated.startMs),
      firstMessageMs: middle(({ delegated }) => delegated.firstMessageMs),
    },
    baseline: {
      what: 'the same, users sign themselves and nodes act for themselves',
      cpuUsPerDelivery: middle(({ own }) => own.cpuUsPerDelivery),
      unbatchedCpuUsPerDelivery: middle(({ own }) => own.unbatchedCpuUsPerDelivery),
      startMs: middle(({ own }) => own.startMs),
      firstMessageMs: middle(({ own }) => own.firstMessageMs),
    },
    ratio: {
      flood: middle(({ delegated, own }) => delegated.cpuUsPerDelivery / own.cpuUsPerDelivery),
      floodUnbatched: middle(
        ({ delegated, own }) => delegated.unbatchedCpuUsPerDelivery / own.unbatchedCpuUsPerDelivery,
      ),
      start: middle(({ delegated, own }) => delegated.startMs / own.startMs),
    },
    memory: { delegations, bytesPerDelegation: round(bytes) },
  }
}

interface Run {
  readonly cpuUsPerDelivery: number
  readonly unbatchedCpuUsPerDelivery: number
  /** Until all nodes have all their neighbours. */
  readonly startMs: number
  /** From the first `publish` to the last node that has it. */
  readonly firstMessageMs: number
}

async function run(nodes: number, messages: number, delegated: boolean): Promise<Run> {
  const swarm = await Swarm.start({ transport: 'websocket', verify: true, overlay: 'random', delegated })
  const beginMs = performance.now()
  await swarm.grow(nodes)
  const startMs = performance.now() - beginMs
  await swarm.settle()
  const source = new Source(swarm)
  const publishedMs = performance.now()
  await saturate(swarm, source, 1, 1, 0)
  const firstMessageMs = performance.now() - publishedMs
  await saturate(swarm, source, messages / 10, 64)
  const batched = await saturate(swarm, source, messages, 64)
  const unbatched = await saturate(swarm, source, messages / 10, 1)
  await swarm.stop()
  return {
    cpuUsPerDelivery: batched.cpuUsPerDelivery,
    unbatchedCpuUsPerDelivery: unbatched.cpuUsPerDelivery,
    startMs,
    firstMessageMs,
  }
}

/** Heap and array buffers of a node that remembers delegations of as many users, one for one process of each. */
async function bytesPerDelegation(count: number): Promise<number> {
  const crypto = await loadCrypto()
  const node = createNetworkNode(
    { transports: { webrtc: false }, limits: { maxDelegations: count } },
    {
      ...{ identity: newIdentity(crypto), crypto, clock: systemClock, random: systemRandom },
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor: () => [], onChange: () => () => {} },
    },
  )
  const template = newDelegation(crypto, newIdentity(crypto), newIdentity(crypto).nodeId)
  const before = usedBytes()
  let last = node.delegations.add(template)
  for (let i = 1; i < count; i++) last = node.delegations.add(like(template, crypto))
  const bytes = usedBytes() - before
  // Also keeps them all until here.
  if (node.delegations.get(last) === undefined) throw new Error('a delegation was forgotten')
  return bytes / count
}

/** Of another user and delegate. Nobody looks at its signature here, which is as long as any. */
function like(template: Delegation, crypto: Crypto): Delegation {
  const newId = (): NodeId => createIdentity(systemRandom.bytes(32), crypto).nodeId
  return { ...template, userId: newId(), delegateId: newId(), signature: systemRandom.bytes(65) }
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
