import { limits, nodeIdFromBytes, nodeIdToBytes, type NodeId } from '@runnel/protocol'

/**
 * What is said on a WebSocket on which a node waits, until it becomes a circuit: one frame each, the first byte says what it
 * is. docs/protocol.md, circuits over nodes.
 */
const types = { challenge: 1, claim: 2, waiting: 3, stillHere: 4, circuit: 5 } as const

/** Frames without content, from either side. */
export const waitingFrame = new Uint8Array([types.waiting])
export const stillHereFrame = new Uint8Array([types.stillHere])
/** From the carrier: somebody is there. From the node: it listens, and everything that follows is of the circuit. */
export const circuitFrame = new Uint8Array([types.circuit])

const challengeBytes = 32
const idBytes = 20
/** Without the address. */
const claimBytes = idBytes + 65

/** Who waits, the `host:port` it dialled, and its signature of both and the challenge. */
export interface Claim {
  readonly nodeId: NodeId
  readonly signature: Uint8Array
  readonly address: string
}

export type WaitingMessage =
  | { readonly type: 'challenge'; readonly challenge: Uint8Array }
  | (Claim & { readonly type: 'claim' })
  | { readonly type: 'waiting' | 'stillHere' | 'circuit' }

export function challengeFrame(challenge: Uint8Array): Uint8Array {
  return new Uint8Array([types.challenge, ...challenge])
}

export function claimFrame({ nodeId, signature, address }: Claim): Uint8Array {
  return new Uint8Array([
    types.claim,
    ...nodeIdToBytes(nodeId),
    ...signature,
    ...new TextEncoder().encode(address),
  ])
}

/** Undefined when it is no such frame. */
export function readWaitingFrame(frame: Uint8Array): WaitingMessage | undefined {
  const [type] = frame
  const content = frame.slice(1)
  if (type === types.challenge && content.length === challengeBytes)
    return { type: 'challenge', challenge: content }
  if (
    type === types.claim &&
    content.length >= claimBytes &&
    content.length <= claimBytes + limits.maxUrlBytes
  )
    return {
      type: 'claim',
      nodeId: nodeIdFromBytes(content.subarray(0, idBytes)),
      signature: content.subarray(idBytes, claimBytes),
      address: new TextDecoder().decode(content.subarray(claimBytes)),
    }
  if (content.length > 0) return undefined
  if (type === types.waiting) return { type: 'waiting' }
  if (type === types.stillHere) return { type: 'stillHere' }
  return type === types.circuit ? { type: 'circuit' } : undefined
}
