import { isRunnelError, limits, toStreamId, type NodeId, type StreamId } from '@runnel/protocol'
import { MqttProblem, Reason } from './reasons.ts'

const notStream = `not a stream: a topic is path or 0xowner/path, the path at most ${limits.maxStreamPathBytes} letters, digits, ".", "_" and "-" between "/"`

/**
 * How topics are written: `0xowner/path` is the stream of that id, and `path` or `/path` one of the account's own. A `@3` at the end is
 * partition 3, which no path of a stream can contain.
 */
export interface TopicForm {
  /** Before the path where the stream is the account's own: nothing, `/`, or its owner and `/`. */
  readonly shown: string
  /** Whether the partition is said. */
  readonly hasPartition: boolean
}

/** What a topic names. */
export interface Topic {
  readonly streamId: StreamId
  /** Undefined: whichever. */
  readonly partition: number | undefined
}

/** What a filter selects. */
export interface Filter {
  /** Text of the filter as the client wrote it, without `$share/group/`. */
  readonly text: string
  /** Of a shared subscription. */
  readonly group: string | undefined
  /** To subscribe to: a stream id, or `0xowner/prefix/#`. */
  readonly target: string
  /** Of the stream; undefined of a prefix, and where all are meant. */
  readonly partition: number | undefined
  /** What a stream id must match besides; undefined where `target` says it all. */
  readonly pattern: RegExp | undefined
  readonly form: TopicForm
}

const ownerPattern = /^0x[0-9a-fA-F]{40}\//
const levelPattern = /^[A-Za-z0-9._-]+$/
const partitionPattern = /@(0|[1-9]\d?)$/

/** The stream a message to a topic goes to. Throws MqttProblem `topicInvalid`. */
export function topicOf(topic: string, own: NodeId): Topic {
  const { rest, partition } = withoutPartition(topic)
  return { streamId: streamOf(rest, own, Reason.topicInvalid), partition }
}

/**
 * The streams that a filter selects: of one owner, with `+` for a level and `#` at its end. Without an owner they are the account's own,
 * wildcards or not. Throws MqttProblem `filterInvalid`.
 */
export function filterOf(given: string, own: NodeId): Filter {
  const { group, text } = withoutGroup(given)
  const isFull = ownerPattern.test(text)
  const shown = isFull ? text.slice(0, 43) : text.startsWith('/') ? '/' : ''
  if (!/[+#]/.test(text)) {
    const { rest, partition } = withoutPartition(text)
    const target = streamOf(rest, own, Reason.filterInvalid)
    const form = { shown, hasPartition: partition !== undefined }
    return { text, group, target, partition, pattern: undefined, form }
  }
  checkLevels(text)
  const full = `${isFull ? text.slice(0, 42).toLowerCase() : own}/${text.slice(shown.length)}`
  const prefix = full.slice(0, full.search(/[+#]/))
  const pattern = full.includes('+') ? patternOf(full) : undefined
  return {
    ...{ text, group, pattern, partition: undefined },
    target: `${prefix}#`,
    form: { shown, hasPartition: false },
  }
}

/** The topic of a message, as who subscribed writes it. */
export function topicFor({ shown, hasPartition }: TopicForm, streamId: string, partition: number): string {
  return shown + streamId.slice(43) + (hasPartition ? `@${partition}` : '')
}

function withoutPartition(topic: string): { rest: string; partition: number | undefined } {
  const match = partitionPattern.exec(topic)
  if (match === null) return { rest: topic, partition: undefined }
  return { rest: topic.slice(0, match.index), partition: Number(match[1]) }
}

function withoutGroup(filter: string): { group: string | undefined; text: string } {
  if (!filter.startsWith('$share/')) return { group: undefined, text: filter }
  const end = filter.indexOf('/', 7)
  const group = filter.slice(7, end)
  if (end < 0 || group === '' || /[+#]/.test(group) || end + 1 === filter.length)
    throw new MqttProblem(Reason.filterInvalid, 'a shared subscription is $share/group/filter')
  return { group, text: filter.slice(end + 1) }
}

function checkLevels(filter: string): void {
  const levels = filter.split('/')
  for (const [i, level] of levels.entries()) {
    const isLast = i === levels.length - 1
    if (level === '+' || (level === '#' && isLast) || (level === '' && i === 0)) continue
    if (/[+#]/.test(level))
      throw new MqttProblem(Reason.filterInvalid, '+ and # stand for whole levels, and # comes last')
    if (!levelPattern.test(level)) throw new MqttProblem(Reason.filterInvalid, notStream)
  }
}

/** Every character but the wildcards stands for itself. */
function patternOf(full: string): RegExp {
  const escaped = full.replace(/[.]/g, '\\.').replaceAll('+', '[^/]+')
  return new RegExp(`^${escaped.endsWith('/#') ? `${escaped.slice(0, -2)}(/.*)?` : escaped}$`)
}

function streamOf(text: string, own: NodeId, reason: number): StreamId {
  const full = ownerPattern.test(text) ? text : `${own}/${text.startsWith('/') ? text.slice(1) : text}`
  try {
    return toStreamId(full)
  } catch (error) {
    if (!isRunnelError(error)) throw error
    throw new MqttProblem(reason, notStream)
  }
}
