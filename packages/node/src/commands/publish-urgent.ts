import type { UrgentOptions } from '@runnel/client'
import { limits } from '@runnel/protocol'
import type { Options } from 'yargs'
import { checkRange } from '../cli/check-range.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { nodeError } from '../errors.ts'

/** Options of `publish` for urgent messages. */
export const urgentOptions = {
  urgent: {
    type: 'boolean',
    describe: 'Urgent messages: ahead of all others, may be lost, not stored; for subscribe --urgent',
  },
  lifetime: {
    type: 'string',
    describe: 'With --urgent: how long a message is of use, such as 200ms, up to 60s. Default: 1s',
  },
  priority: {
    type: 'number',
    describe: 'With --urgent: from 0, which goes first, to 255; below 64 for small flows. Default: 128',
  },
} as const satisfies Record<string, Options>

interface UrgentArguments {
  readonly urgent?: boolean | undefined
  readonly lifetime?: string | undefined
  readonly priority?: number | undefined
  readonly 'message-key'?: string | undefined
  readonly 'key-field'?: string | undefined
}

/** How messages are urgent, as the options say; undefined if they are not. Throws USAGE. */
export function urgentOf({
  urgent = false,
  lifetime,
  priority,
  ...others
}: UrgentArguments): UrgentOptions | undefined {
  if (!urgent) {
    if (lifetime === undefined && priority === undefined) return undefined
    throw nodeError('USAGE', '--lifetime and --priority need --urgent')
  }
  if (others['message-key'] !== undefined || others['key-field'] !== undefined)
    throw nodeError(
      'USAGE',
      '--message-key and --key-field cannot be used with --urgent: urgent messages are not kept',
    )
  if (priority !== undefined) checkRange('priority', priority, 0, 255)
  return { lifetimeMs: lifetime === undefined ? undefined : lifetimeMsOf(lifetime), priority }
}

function lifetimeMsOf(text: string): number {
  const lifetimeMs = parseDurationMs(text, 'lifetime')
  if (Number.isInteger(lifetimeMs) && lifetimeMs <= limits.maxUrgentLifetimeMs) return lifetimeMs
  throw nodeError(
    'USAGE',
    `--lifetime takes a duration from 1ms to ${limits.maxUrgentLifetimeMs / 1_000}s, not "${text}"`,
  )
}
