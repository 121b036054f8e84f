import { clientError } from '@runnel/client'
import { compareRefs, limits, toNodeId, toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Query } from '../selection.ts'
import { endOfTime, parsePoint, pointHelp } from './point-in-time.ts'

type Texts = Readonly<Record<string, unknown>>

const names = new Set(['last', 'from', 'to', 'publisher', 'chain', 'batch'])

/**
 * What `/v1/streams/:streamId/partitions/:partition/messages?…` asks for. Throws INVALID_ARGUMENT, INVALID_STREAM_ID,
 * INVALID_PARTITION or INVALID_NODE_ID.
 */
export function parseMessageQuery(
  path: { readonly streamId: string; readonly partition: string },
  query: Texts,
  nowMs: number,
): Query & { readonly wholeBatches: boolean } {
  const unknown = Object.keys(query).filter((name) => !names.has(name))
  if (unknown.length > 0) throw clientError('INVALID_ARGUMENT', `unknown parameter ${unknown.join(', ')}`)
  const partition = /^\d+$/.test(path.partition) ? Number(path.partition) : Number.NaN
  const publisher = textOf(query, 'publisher')
  const messageChainId = textOf(query, 'chain')
  if (messageChainId !== undefined && publisher === undefined) {
    throw clientError('INVALID_ARGUMENT', 'chain goes with publisher')
  }
  const batch = textOf(query, 'batch')
  if (batch !== undefined && batch !== 'true') throw clientError('INVALID_ARGUMENT', 'batch takes true')
  return {
    streamPartId: toStreamPartId(toStreamId(path.streamId), partition),
    selection: parseSelection(query, nowMs),
    publisherId: publisher === undefined ? undefined : toNodeId(publisher),
    messageChainId,
    wholeBatches: batch !== undefined,
  }
}

function parseSelection(query: Texts, nowMs: number): Query['selection'] {
  const [last, from, to] = [textOf(query, 'last'), textOf(query, 'from'), textOf(query, 'to')]
  if ((last === undefined) === (from === undefined)) {
    throw clientError('INVALID_ARGUMENT', 'give last=N, or from=… and perhaps to=…')
  }
  if (last !== undefined) {
    const count = /^\d+$/.test(last) ? Number(last) : 0
    if (count < 1 || count > limits.maxResendCount || to !== undefined) {
      throw clientError('INVALID_ARGUMENT', `last takes 1 to ${limits.maxResendCount}, and no "to"`)
    }
    return { kind: 'last', count }
  }
  const range = {
    from: pointOf('from', from ?? '', 'first', nowMs),
    to: to === undefined ? endOfTime : pointOf('to', to, 'last', nowMs),
  }
  if (compareRefs(range.from, range.to) > 0) throw clientError('INVALID_ARGUMENT', 'from is after to')
  return { kind: 'range', ...range }
}

function pointOf(name: string, text: string, end: 'first' | 'last', nowMs: number) {
  const point = parsePoint(text, end, nowMs)
  if (point === undefined) throw clientError('INVALID_ARGUMENT', `${name} takes ${pointHelp}`)
  return point
}

/** A parameter given twice is a list. */
function textOf(query: Texts, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || typeof value === 'string') return value
  throw clientError('INVALID_ARGUMENT', `${name} is given more than once`)
}
