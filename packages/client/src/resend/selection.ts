import {
  compareRefs,
  limits,
  toNodeId,
  type MessageRef,
  type NodeId,
  type ResendSelection,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { checkPartition } from '../publish/partition.ts'
import type { StreamInfo } from '../registry/ports.ts'

/** A time (Unix milliseconds or a date) or the exact place of a message. */
export type HistoryPlace = number | Date | MessageRef

/** Stored messages to read: the last so many, or all from `from` on, up to and including `to`. */
export type HistorySelection =
  { readonly last: number } | { readonly from: HistoryPlace; readonly to?: HistoryPlace | undefined }

/** Narrows a history selection down. */
export interface HistoryFilter {
  /** Only messages of this publisher. */
  readonly publisherId?: string | undefined
  /** Only messages of this chain; needs `publisherId`. */
  readonly messageChainId?: string | undefined
  /** Default: all partitions the stream has. */
  readonly partitions?: readonly number[] | undefined
}

/** A selection as storage nodes are asked for it. */
export interface History {
  readonly selection: ResendSelection
  readonly publisherId: NodeId | undefined
  readonly messageChainId: string | undefined
  readonly partitions: readonly number[]
}

/** The first and the last place there can be. */
export const firstPlace: MessageRef = { timestamp: 0, sequenceNumber: 0 }
export const lastPlace: MessageRef = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }

/** Throws INVALID_RESEND, PARTITION_OUT_OF_RANGE or INVALID_NODE_ID. */
export function historyOf(selection: HistorySelection, filter: HistoryFilter, stream: StreamInfo): History {
  const { publisherId, messageChainId, partitions } = filter
  if (messageChainId !== undefined && publisherId === undefined) {
    throw clientError('INVALID_RESEND', 'a message chain goes with its publisher')
  }
  return {
    selection: toSelection(selection),
    publisherId: publisherId === undefined ? undefined : toNodeId(publisherId),
    messageChainId,
    partitions: choosePartitions(stream, partitions),
  }
}

/** The wanted partitions, or all. Throws INVALID_ARGUMENT or PARTITION_OUT_OF_RANGE. */
export function choosePartitions(
  stream: StreamInfo,
  wanted: readonly number[] | undefined,
): readonly number[] {
  if (wanted === undefined) return Array.from({ length: stream.partitions }, (_, partition) => partition)
  if (wanted.length === 0) throw clientError('INVALID_ARGUMENT', 'an empty list of partitions')
  return [...new Set(wanted)].map((partition) => checkPartition(partition, stream))
}

/** Throws INVALID_RESEND. */
export function toSelection(selection: HistorySelection): ResendSelection {
  if (typeof selection !== 'object' || selection === null) {
    throw clientError('INVALID_RESEND', 'give { last } or { from, to }')
  }
  if ('last' in selection) {
    const { last: count } = selection
    if ('from' in selection || 'to' in selection) {
      throw clientError('INVALID_RESEND', 'last goes with neither from nor to')
    }
    if (!Number.isInteger(count) || count < 1 || count > limits.maxResendCount) {
      throw clientError('INVALID_RESEND', `last is a whole number from 1 to ${limits.maxResendCount}`)
    }
    return { kind: 'last', count }
  }
  const from = toPlace(selection.from, 'from', firstPlace)
  const to = selection.to === undefined ? lastPlace : toPlace(selection.to, 'to', lastPlace)
  if (compareRefs(from, to) > 0) throw clientError('INVALID_RESEND', 'it ends before it begins')
  return { kind: 'range', from, to }
}

/** A place; the sequence number of a mere time is that of `edge`. Throws INVALID_RESEND. */
export function toPlace(place: HistoryPlace, name: string, edge: MessageRef): MessageRef {
  const isRef = typeof place === 'object' && place !== null && !(place instanceof Date)
  const timestamp = isRef ? place.timestamp : Number(place ?? Number.NaN)
  const sequenceNumber = isRef ? place.sequenceNumber : edge.sequenceNumber
  if (!isWhole(timestamp, lastPlace.timestamp)) {
    throw clientError('INVALID_RESEND', `${name} is no time: give a date or whole Unix milliseconds`)
  }
  if (!isWhole(sequenceNumber, lastPlace.sequenceNumber)) {
    throw clientError('INVALID_RESEND', `${name} has no whole sequence number`)
  }
  return { timestamp, sequenceNumber }
}

const isWhole = (value: unknown, max: number): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max
