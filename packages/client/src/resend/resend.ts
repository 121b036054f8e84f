import type { Clock, StreamId, StreamMessage } from '@runnel/protocol'
import { anyOf, throwIfAborted, waited } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { requirePermission } from '../permission.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import type { StatusHub } from '../status.ts'
import type { ContentSteps } from '../content/content-steps.ts'
import { decodeMessage, reportUndecodable, type Decoding } from '../content/decode.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import { openAhead } from '../content/open-ahead.ts'
import { toMessageGap, type MessageGap } from '../subscribe/gap.ts'
import type { Message } from '../subscribe/message.ts'
import type { HistorySource, OnGap } from './history-source.ts'
import { historyOf, type HistoryFilter, type HistorySelection } from './selection.ts'

/** Which stored messages to read, how to decode them, and which callbacks report gaps. */
export interface ResendOptions<T = unknown> extends HistoryFilter, Decoding<T> {
  /** Called for messages that are left out because they cannot be opened or decoded; there is a status 'undecodable' too. */
  readonly onUndecodable?: ((message: UndecodableMessage) => void) | undefined
  /** Called for messages that other messages name and no storage node has; there is a status 'gap' too. */
  readonly onGap?: ((gap: MessageGap) => void) | undefined
  /**
   * The stored messages are a recording made by `record`: deliver the urgent messages inside instead of the messages that hold them.
   * Default false.
   */
  readonly recording?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

const resendOptions: OptionNames<ResendOptions> = {
  ...{
    publisherId: true,
    messageChainId: true,
    partitions: true,
    raw: true,
    schema: true,
    asBytes: true,
    signal: 'signal',
    onUndecodable: 'function',
    onGap: 'function',
    recording: 'boolean',
  },
}

export interface ResendModules {
  readonly history: HistorySource
  readonly cache: RegistryCache
  readonly delegations: DelegationChecks
  readonly user: ActingUser
  readonly clock: Clock
  readonly status: StatusHub
  readonly steps: Pick<ContentSteps, 'open'>
}

/**
 * Stored messages, verified and in order: by time over all chains, each message once. They are read as the application takes
 * them; leaving the loop ends the request.
 */
export async function* resend(
  streamId: StreamId,
  selection: HistorySelection,
  options: ResendOptions,
  modules: ResendModules,
): AsyncGenerator<Message, void, undefined> {
  checkOptions('resend', options, resendOptions)
  const { history, status, steps } = modules
  if (history.closing.aborted) throw clientError('CLIENT_CLOSED')
  const stream = await requirePermission('subscribe', streamId, modules)
  const wanted = historyOf(selection, options, stream)
  const plan = await history.plan(stream, wanted.partitions, options.signal)
  const onGap: OnGap = (found) => {
    const gap = toMessageGap(found)
    status.emit({ type: 'gap', ...gap })
    options.onGap?.(gap)
  }
  const leaveOut = (message: StreamMessage, error: unknown) => {
    const undecodable = reportUndecodable(message, error, status)
    options.onUndecodable?.(undecodable)
  }
  const open = options.raw ? asItCame : (message: StreamMessage) => steps.open(message)
  const signal = anyOf(options.signal, history.closing)
  for await (const run of history.read(plan, wanted, { signal: options.signal, onGap })) {
    for (const next of openAhead(run, open)) {
      throwIfAborted(signal)
      const one = next instanceof Promise ? await waited(next, signal) : next
      const result = 'error' in one ? one : decoded(one.opened, options, one.message)
      if ('error' in result) leaveOut(one.message, result.error)
      else yield result
    }
  }
}

const asItCame = (message: StreamMessage) => message

function decoded(
  message: StreamMessage,
  decoding: Decoding,
  sealed: StreamMessage,
): Message | { readonly error: unknown } {
  try {
    return decodeMessage(message, decoding, sealed)
  } catch (error) {
    return { error }
  }
}
