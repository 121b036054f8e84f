import { networkLimits, type NetworkNode } from '@runnel/network'
import type { Clock } from '@runnel/protocol'
import { isNetworkUrl, type DescribedNetwork } from './cli/network-source.ts'
import { errorLine } from './cli/error-line.ts'
import { notice } from './cli/output.ts'
import { httpUrlOf } from './cli/tracker-state.ts'
import { clockWrongMs, middleOffsetMs, offsetText } from './clock-offset.ts'
import { nodeError } from './errors.ts'
import type { Logger } from './logger.ts'

export interface ToldClock {
  readonly told: Promise<void>
  requireAccepted(): Promise<void>
  stop(): void
}

/** Servers asked for their time. */
const maxServers = 3

/** The clock is looked at again when messages are refused for their times, but not more often: one publisher's wrong clock suffices. */
const lookAgainMs = 5 * 60_000

const refusedForTimes: readonly string[] = ['data.timestampAhead', 'data.tooOld']

/** Logs that this machine's clock is wrong, also where it goes wrong later, as that of a machine that slept does. */
export function watchClock(
  network: DescribedNetwork,
  {
    node,
    clock,
    logger,
  }: {
    readonly node: Pick<NetworkNode, 'on'>
    readonly clock: Pick<Clock, 'monotonicMs'>
    readonly logger: Pick<Logger, 'error'>
  },
): void {
  let lookedMs = clock.monotonicMs()
  node.on('dropped', (counter) => {
    const nowMs = clock.monotonicMs()
    if (!refusedForTimes.includes(counter) || nowMs - lookedMs < lookAgainMs) return
    lookedMs = nowMs
    void lookAtClock(network, logger)
  })
}

/** Logs that this machine's clock is wrong by minutes, as the chain or the trackers say: then its messages are refused. Never rejects. */
export async function lookAtClock(network: DescribedNetwork, logger: Pick<Logger, 'error'>): Promise<void> {
  const wrong = await wrongClock(network)
  if (wrong === undefined) return
  const { code, message, remedy } = wrong.error
  logger.error({ code, offsetMs: wrong.offsetMs }, `${message}. ${remedy}`)
}

/**
 * Tells the person at the terminal the same. `told` resolves when it is known, or called off by `stop`. `requireAccepted` waits
 * for that, and throws CLOCK_WRONG where the clock is so wrong that others refuse what was published by it.
 */
export function tellOfClock(network: DescribedNetwork): ToldClock {
  const calledOff = new AbortController()
  let offsetMs = 0
  const told = wrongClock(network, calledOff.signal).then((wrong) => {
    if (wrong === undefined) return
    offsetMs = wrong.offsetMs
    notice(errorLine(wrong.error))
  })
  const requireAccepted = async (): Promise<void> => {
    await told
    if (isAccepted(offsetMs)) return
    throw nodeError('CLOCK_WRONG', `${offsetText(offsetMs)}, so that others refuse the messages`)
  }
  return { told, requireAccepted, stop: () => calledOff.abort() }
}

/** Whether other nodes take messages of a clock that is behind by `offsetMs`, or ahead where that is negative. */
function isAccepted(offsetMs: number): boolean {
  return -offsetMs <= networkLimits.clockToleranceMs && offsetMs <= networkLimits.maxLiveAgeMs
}

async function wrongClock(network: DescribedNetwork, signal?: AbortSignal) {
  const middle = await middleOffsetMs((await clocksOf(network)).slice(0, maxServers), signal)
  if (middle === undefined || Math.abs(middle.offsetMs) < clockWrongMs) return undefined
  return {
    offsetMs: Math.round(middle.offsetMs),
    error: nodeError('CLOCK_WRONG', offsetText(middle.offsetMs)),
  }
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
