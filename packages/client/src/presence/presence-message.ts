import { fromBase64Url, nodeIdFromBytes, nodeIdToBytes, toBase64Url, type NodeId } from '@runnel/protocol'
import { jsonArgument } from '../content/json-text.ts'
import { clientError } from '../errors.ts'
import type { SideMessage } from '../side/side-part.ts'
import { presenceLimits } from './limits.ts'

/** The chains in which members say that they are there begin with this; the rest is the node's id. */
export const presencePrefix = '~p'

/** What one member says. */
export interface PresenceMessage {
  readonly userId: NodeId
  /** As the user says: a node of another user would be a member of its own. */
  readonly nodeId: NodeId
  /** Unix milliseconds, by the member's clock. */
  readonly timestamp: number
  readonly isHere: boolean
  /** JSON; undefined where it says nothing of itself. */
  readonly data: string | undefined
}

/** The first byte of what a member says. */
const [here, gone] = [1, 2]
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

export const presenceChain = (nodeId: NodeId): string =>
  `${presencePrefix}${toBase64Url(nodeIdToBytes(nodeId))}`

/** `u8 1 ‖ JSON`, or `u8 2`. */
export function presenceBytes({ isHere, data = '' }: Pick<PresenceMessage, 'isHere' | 'data'>): Uint8Array {
  return isHere ? Uint8Array.of(here, ...encoder.encode(data)) : Uint8Array.of(gone)
}

/** What a member says of itself, as JSON; undefined for undefined. Throws INVALID_ARGUMENT. */
export function presenceData(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const json = jsonArgument('a member', value)
  const bytes = encoder.encode(json).length
  const { maxPresenceBytes } = presenceLimits
  if (bytes <= maxPresenceBytes) return json
  throw clientError('INVALID_ARGUMENT', `a member is JSON of at most ${maxPresenceBytes} bytes; ${bytes}`)
}

/** Undefined where it is none, or of a later version. */
export function presenceIn({ publisherId, messageChainId, place, content }: SideMessage) {
  const nodeBytes = fromBase64Url(messageChainId.slice(presencePrefix.length))
  const [kind] = content
  const isTooLarge = content.length > 1 + presenceLimits.maxPresenceBytes
  if (nodeBytes?.length !== 20 || isTooLarge || (kind !== here && kind !== gone)) return undefined
  const data = jsonIn(content.subarray(1))
  if (data === undefined) return undefined
  const said: PresenceMessage = {
    userId: publisherId,
    nodeId: nodeIdFromBytes(nodeBytes),
    timestamp: place.timestamp,
    isHere: kind === here,
    data: data === '' ? undefined : data,
  }
  return said
}

/** Text that is JSON, or empty; undefined where it is neither. */
function jsonIn(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes)
    if (text !== '') JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}
