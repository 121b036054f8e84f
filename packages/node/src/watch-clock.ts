import { rpcUrlsOf } from '@runnel/contracts'
import { isNetworkUrl, type DescribedNetwork } from './cli/network-source.ts'
import { httpUrlOf } from './cli/tracker-state.ts'
import { clockWrongMs, middleOffsetMs, offsetText } from './clock-offset.ts'
import { nodeError } from './errors.ts'
import type { Logger } from './logger.ts'

/** Servers asked for their time. */
const maxServers = 3

/** Logs that this machine's clock is wrong by minutes, as the chain or the trackers say: then its messages are refused. Never rejects. */
export async function watchClock(network: DescribedNetwork, logger: Pick<Logger, 'error'>): Promise<void> {
  const middle = await middleOffsetMs(clocksOf(network).slice(0, maxServers))
  if (middle === undefined || Math.abs(middle.offsetMs) < clockWrongMs) return
  const { code, message, remedy } = nodeError('CLOCK_WRONG', offsetText(middle.offsetMs))
  logger.error({ code, offsetMs: Math.round(middle.offsetMs) }, `${message}. ${remedy}`)
}

function clocksOf(network: DescribedNetwork): string[] {
  if (network.kind === 'chain') return [...rpcUrlsOf(network)]
  if (network.kind === 'document') return network.sources.filter(isNetworkUrl)
  return (network.document.trackers ?? []).map(({ url }) => httpUrlOf(url))
}
