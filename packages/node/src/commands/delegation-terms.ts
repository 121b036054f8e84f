import { limits, streamIdOf, type DelegationClaim, type NodeId } from '@runnel/protocol'
import { parseDurationMs } from '../cli/duration.ts'
import { nodeError } from '../errors.ts'

/** What a delegation allows and for how long, as options say it. */
export interface TermsArguments {
  readonly streams: string | undefined
  readonly rights: string
  readonly for: string
  readonly label: string
}

type Terms = Pick<DelegationClaim, 'fromMs' | 'untilMs' | 'publishes' | 'reads' | 'streams' | 'requester'>

const rightNames = new Set(['publish', 'read'])
const labelPattern = /^[ -~]+$/

/** Paths are of streams of the user. Throws USAGE or INVALID_STREAM_ID. */
export function parseTerms(args: TermsArguments, userId: NodeId, nowMs: number): Terms {
  const { streams, rights, label } = args
  const lastsMs = Math.round(parseDurationMs(args.for, 'for', limits.maxDelegationMs / 86_400_000))
  const words = rights.split(',')
  if (!words.every((word) => rightNames.has(word)))
    throw nodeError('USAGE', `--rights takes publish, read or publish,read, not "${rights}"`)
  if (!labelPattern.test(label) || label.length > limits.maxRequesterBytes)
    throw nodeError('USAGE', `--label takes up to ${limits.maxRequesterBytes} printable ASCII characters`)
  return {
    ...{ fromMs: nowMs, untilMs: nowMs + lastsMs, requester: label },
    ...{ publishes: words.includes('publish'), reads: words.includes('read') },
    streams: streams === undefined ? [] : parseStreams(streams, userId),
  }
}

/** Throws USAGE or INVALID_STREAM_ID. */
function parseStreams(text: string, userId: NodeId): DelegationClaim['streams'] {
  const streams = [...new Set(text.split(',').map((one) => streamIdOf(one, userId)))]
  if (streams.length > limits.maxDelegationStreams)
    throw nodeError(
      'USAGE',
      `--streams takes up to ${limits.maxDelegationStreams} streams, not ${streams.length}`,
    )
  return streams
}
