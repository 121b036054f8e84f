import { PacketType, type MessageBatch } from '@runnel/protocol'

/**
 * What a host that withholds keeps from its guests: every fourth message, all of one publisher in three, everything, or every fourth
 * without an answer when it is asked for it.
 */
export const withholdings = ['some', 'publishers', 'all', 'silently'] as const
export type Withholding = (typeof withholdings)[number]

export function isWithheld(what: Withholding, { chain, messages }: MessageBatch): boolean {
  switch (what) {
    case 'all':
      return true
    case 'publishers':
      return Number.parseInt(chain.publisherId.slice(-4), 16) % 3 === 0
    case 'some':
    case 'silently':
      return (messages[0]?.sequenceNumber ?? 0) % 4 === 3
  }
}

/** Whether such a host leaves out a packet that is no message. */
export function isUnanswered(what: Withholding, type: number): boolean {
  return what === 'silently' && type === PacketType.fetched
}
