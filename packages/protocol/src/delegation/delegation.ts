import { checkedStreamId, readList, readNodeId, writeList, writeNodeId } from '../codec/fields.ts'
import { Reader, withinLimit } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { protocolError } from '../errors.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { StreamId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'

/** What a user lets another key do in its name. */
export interface DelegationClaim {
  /** Of the chain that the network's registries are on; 0 where they are on none. */
  readonly chainId: number
  /** Who lets it. */
  readonly userId: NodeId
  /** The address of the key that acts for the user. */
  readonly delegateId: NodeId
  /** Unix milliseconds: the delegation is good from `fromMs` on and until just before `untilMs`. */
  readonly fromMs: number
  readonly untilMs: number
  readonly publishes: boolean
  readonly reads: boolean
  /** For these streams, each once; for all of them where there are none. */
  readonly streams: readonly StreamId[]
  /** The page or program that asked for it, for people; printable ASCII. */
  readonly requester: string
  /** For a user that is a contract: the block at which it agrees to the signature. Else 0. */
  readonly block: number
}

/** A claim and its user's signature. */
export interface Delegation extends DelegationClaim {
  /** Of the user's key, 65 bytes; or what a contract takes for its signature (ERC-1271). */
  readonly signature: Uint8Array
}

const delegationVersion = 1
const publishesFlag = 1
const readsFlag = 2

export function writeDelegation(writer: Writer, delegation: Delegation): void {
  const start = writer.view().length
  const { publishes, reads, streams, signature } = checkedDelegation(delegation)
  writer.u8(delegationVersion)
  writer.varint(delegation.chainId)
  writeNodeId(writer, delegation.userId)
  writeNodeId(writer, delegation.delegateId)
  writer.u48(delegation.fromMs)
  writer.u48(delegation.untilMs)
  writer.u8((publishes ? publishesFlag : 0) | (reads ? readsFlag : 0))
  writeList(writer, streams, limits.maxDelegationStreams, 'streams of a delegation', (to, streamId) =>
    to.ascii(checkedStreamId(streamId), limits.maxStreamIdBytes, 'stream id'),
  )
  writer.ascii(delegation.requester, limits.maxRequesterBytes, 'requester')
  writer.varint(delegation.block)
  writer.count(signature.length, limits.maxDelegationSignatureBytes, 'bytes of a delegation signature')
  writer.raw(signature)
  withinLimit(writer.view().length - start, limits.maxDelegationBytes, 'bytes of a delegation')
}

/** What it holds of bytes is a copy. Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION. */
export function readDelegation(reader: Reader): Delegation {
  const first = reader.offset
  const version = reader.u8()
  if (version !== delegationVersion)
    throw protocolError('UNSUPPORTED_VERSION', `delegation version ${version}`)
  const parties = { chainId: reader.varint(), userId: readNodeId(reader), delegateId: readNodeId(reader) }
  const times = { fromMs: reader.u48(), untilMs: reader.u48() }
  const rights = reader.u8()
  if (rights > (publishesFlag | readsFlag)) throw protocolError('MALFORMED_PACKET', `rights ${rights}`)
  const delegation = {
    ...parties,
    ...times,
    publishes: (rights & publishesFlag) !== 0,
    reads: (rights & readsFlag) !== 0,
    streams: readList(reader, limits.maxDelegationStreams, 'streams of a delegation', (from) =>
      checkedStreamId(from.ascii(limits.maxStreamIdBytes, 'stream id')),
    ),
    requester: reader.ascii(limits.maxRequesterBytes, 'requester'),
    block: reader.varint(),
    signature: reader
      .view(reader.count(limits.maxDelegationSignatureBytes, 'bytes of a delegation signature'))
      .slice(),
  }
  withinLimit(reader.offset - first, limits.maxDelegationBytes, 'bytes of a delegation')
  return checkedDelegation(delegation)
}

/** The bytes of a delegation. Throws MALFORMED_PACKET or LIMIT_EXCEEDED for one that has none. */
export function encodeDelegation(delegation: Delegation): Uint8Array {
  const writer = new Writer()
  writeDelegation(writer, delegation)
  return writer.view().slice()
}

/** Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION. */
export function decodeDelegation(bytes: Uint8Array): Delegation {
  const reader = new Reader(bytes)
  const delegation = readDelegation(reader)
  reader.end()
  return delegation
}

function checkedDelegation(delegation: Delegation): Delegation {
  const { fromMs, untilMs, streams, publishes, reads } = delegation
  if (fromMs >= untilMs) throw protocolError('MALFORMED_PACKET', 'a delegation that ends before it begins')
  if (!publishes && !reads) throw protocolError('MALFORMED_PACKET', 'a delegation of nothing')
  if (new Set(streams).size < streams.length)
    throw protocolError('MALFORMED_PACKET', 'a delegation that names a stream twice')
  return delegation
}
