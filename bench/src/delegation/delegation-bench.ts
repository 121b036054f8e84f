import { loadCrypto } from '@runnel/protocol'
import { beginPhase } from '../phase.ts'
import { nodeRelay } from '../relay/relay-bench.ts'
import { round } from '../statistics.ts'
import { floodPairs, joinPairs, startPairs } from './overlay-pairs.ts'
import { compared, pairs } from './pairs.ts'
import { bytesPerDelegation } from './remembered-bytes.ts'

export interface DelegationOptions {
  readonly transport: 'webrtc' | 'websocket'
  readonly nodes: number
  /** Of each run. */
  readonly messages: number
  /** Pairs of runs, one by delegates and one by users themselves. */
  readonly rounds: number
  /** Pairs of nodes that join. */
  readonly joins: number
  /** Remembered by one node. */
  readonly delegations: number
}

/** What it costs that delegates sign and nodes act for users, beside users that sign and act themselves. */
export async function delegationBench(options: DelegationOptions) {
  const { messages, rounds, joins, delegations } = options
  beginPhase('memory of delegations')
  // First, while nothing else leaves garbage.
  const bytes = await bytesPerDelegation(delegations)
  const starts = await startPairs(options, rounds)
  const flood = await floodPairs(options, options)
  const join = await joinPairs(options, joins)
  const figure = (one: number): number => one
  return {
    bench: 'delegation',
    ...options,
    startMs: compared(starts, ({ startMs }) => startMs),
    firstMessageMs: compared(starts, ({ firstMessageMs }) => firstMessageMs),
    floodCpuUsPerDelivery: compared(flood.batched, figure),
    floodUnbatchedCpuUsPerDelivery: compared(flood.unbatched, figure),
    relayCpuUsPerMessage: compared(await relayPairs(options, messages, 64), figure),
    relayUnbatchedCpuUsPerMessage: compared(await relayPairs(options, messages / 10, 1), figure),
    joinMs: compared(join, figure),
    memory: { bytesPerDelegation: round(bytes) },
  }
}

async function relayPairs(
  { transport, rounds }: Pick<DelegationOptions, 'transport' | 'rounds'>,
  messages: number,
  perBatch: number,
) {
  const crypto = await loadCrypto()
  return pairs(`relays, ${perBatch} a batch`, rounds, (delegated) =>
    nodeRelay(crypto, { transport, verify: true, delegated, messages, perBatch }),
  )
}
