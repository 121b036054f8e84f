import { networkLimits } from '@runnel/network'
import type { RunnelError } from '@runnel/protocol'
import { isNetworkUrl, type DescribedNetwork } from '../cli/network-source.ts'
import { httpUrlOf } from '../cli/tracker-state.ts'
import { nodeError } from '../errors.ts'
import { clockWrongMs, middleOffsetMs, offsetText } from './clock-offset.ts'

/** What a clock that is wrong by minutes does. */
export interface WrongClock {
  /** By how much this machine's clock is behind, or ahead where it is negative. */
  readonly offsetMs: number
  /** Whether other nodes take messages dated by it. */
  readonly isAccepted: boolean
  /** CLOCK_WRONG. */
  readonly error: RunnelError
}

/** Servers asked for their time. */
const maxServers = 3

/**
 * Asks the chain, or the trackers, what time it is, and says how this machine's clock is. Undefined where nobody said, or the signal called it
 * off. Never rejects.
 */
export async function lookAtClock(
  network: DescribedNetwork,
  signal?: AbortSignal,
): Promise<WrongClock | 'right' | undefined> {
  const middle = await middleOffsetMs((await clocksOf(network)).slice(0, maxServers), signal)
  if (middle === undefined) return undefined
  if (Math.abs(middle.offsetMs) < clockWrongMs) return 'right'
  const offsetMs = Math.round(middle.offsetMs)
  const isAccepted = -offsetMs <= networkLimits.clockToleranceMs && offsetMs <= networkLimits.maxLiveAgeMs
  const refused = isAccepted ? '' : ', so that other nodes refuse its messages, and it theirs'
  return { offsetMs, isAccepted, error: nodeError('CLOCK_WRONG', offsetText(offsetMs) + refused) }
}

async function clocksOf(network: DescribedNetwork): Promise<readonly string[]> {
  if (network.kind === 'chain') {
    // Loaded where there is a chain: it comes with ethers.
    const { rpcUrlsOf } = await import('@runnel/contracts')
    return rpcUrlsOf(network)
  }
  if (network.kind === 'document') return network.sources.filter(isNetworkUrl)
  return (network.document.trackers ?? []).map(({ url }) => httpUrlOf(url))
}
