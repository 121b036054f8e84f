import {
  isRunnelError,
  limits as wireLimits,
  nodeIdFromBytes,
  nodeIdToBytes,
  parseStreamPartId,
  readContact,
  Reader,
  toStreamId,
  toStreamPartId,
  writeContact,
  Writer,
  type Contact,
  type Crypto,
  type Identity,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { trackerError } from '../../errors.ts'

/** The only supported version; records of any other are ignored. */
const recordVersion = 1
const signatureBytes = 65
const domain = new TextEncoder().encode('Runnel cluster record 1\n')
const utf8 = new TextEncoder()

/** The namespace of all keys. */
export const recordNamespace = 'runnel'

/** Says that a tracker is alive, and its load. */
export interface AliveBody {
  readonly kind: 'alive'
  /** The URL that nodes dial. */
  readonly url: string
  /** Nodes connected to it. */
  readonly nodes: number
  /** Stream parts it leads. */
  readonly leads: number
  /** Stream parts of other trackers whose replicas it has. */
  readonly replicas: number
}

/**
 * Says that a tracker leads a stream part, and how many records hold the overlay. Nodes never follow it: they find the
 * leader themselves.
 */
interface LeadBody {
  readonly kind: 'lead'
  readonly streamPartId: StreamPartId
  /** 0: it no longer leads it. */
  readonly chunks: number
  readonly nodes: number
}

/** A node of a replicated overlay. */
export interface ReplicatedNode {
  readonly nodeId: NodeId
  readonly contact: Contact
  /** Its neighbours with a higher id: each edge is stored with its lower end. */
  readonly neighbours: readonly NodeId[]
}

/** One chunk of the nodes of an overlay. */
export interface TopologyBody {
  readonly kind: 'topology'
  readonly streamPartId: StreamPartId
  readonly chunk: number
  readonly chunks: number
  readonly nodes: readonly ReplicatedNode[]
}

export type RecordBody = AliveBody | LeadBody | TopologyBody

/** What a tracker wrote into the cluster. */
export interface ClusterRecord {
  readonly writer: NodeId
  /** When it was written, in Unix milliseconds: of two records under one key the later one counts. */
  readonly writtenAt: number
  /** Unix milliseconds. */
  readonly expiresAt: number
  readonly body: RecordBody
}

/** The key of a record; only its writer can write there. */
export function recordKey(writer: NodeId, body: RecordBody): string {
  const { kind } = body
  if (kind === 'alive') return `/${recordNamespace}/alive/${writer}`
  if (kind === 'lead') return leadKey(writer, body.streamPartId)
  return topologyKey(writer, body.streamPartId, body.chunk)
}

export function leadKey(writer: NodeId, streamPartId: StreamPartId): string {
  return `/${recordNamespace}/lead/${writer}/${streamPartId}`
}

export function topologyKey(writer: NodeId, streamPartId: StreamPartId, chunk: number): string {
  return `/${recordNamespace}/topology/${writer}/${chunk}/${streamPartId}`
}

/** Version, writer, times, body, signature. */
export function encodeRecord(record: ClusterRecord, identity: Identity, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.u8(recordVersion)
  writer.raw(nodeIdToBytes(record.writer))
  writer.u48(record.writtenAt)
  writer.u48(record.expiresAt)
  writeBody(writer, record.body)
  const key = utf8.encode(recordKey(record.writer, record.body))
  writer.raw(identity.sign(crypto.keccak256(domain, key, writer.view())))
  return writer.view().slice()
}

/**
 * Decodes the record under a key. Throws CLUSTER_RECORD_UNKNOWN when it is of a later version or kind, CLUSTER_RECORD_MALFORMED
 * when it is invalid or belongs to another key, CLUSTER_RECORD_FORGED when its writer did not sign it.
 */
export function decodeRecord(key: Uint8Array, bytes: Uint8Array, crypto: Crypto): ClusterRecord {
  const signed = bytes.subarray(0, Math.max(0, bytes.length - signatureBytes))
  const record = readRecord(signed)
  const expectedKey = utf8.encode(recordKey(record.writer, record.body))
  if (!sameBytes(key, expectedKey)) throw trackerError('CLUSTER_RECORD_MALFORMED', 'under the wrong key')
  const signer = crypto.recover(crypto.keccak256(domain, key, signed), bytes.slice(-signatureBytes))
  if (signer === undefined || nodeIdFromBytes(signer) !== record.writer)
    throw trackerError('CLUSTER_RECORD_FORGED', record.writer)
  return record
}

function readRecord(bytes: Uint8Array): ClusterRecord {
  try {
    const reader = new Reader(bytes)
    const version = reader.u8()
    if (version !== recordVersion) throw trackerError('CLUSTER_RECORD_UNKNOWN', `version ${version}`)
    const writer = nodeIdFromBytes(reader.view(20))
    const writtenAt = reader.u48()
    const expiresAt = reader.u48()
    const body = readBody(reader)
    reader.end()
    return { writer, writtenAt, expiresAt, body }
  } catch (cause) {
    if (isRunnelError(cause, 'CLUSTER_RECORD_MALFORMED') || isRunnelError(cause, 'CLUSTER_RECORD_UNKNOWN'))
      throw cause
    throw trackerError('CLUSTER_RECORD_MALFORMED', undefined, { cause })
  }
}

const kinds = ['alive', 'lead', 'topology'] as const
/** Nodes in one record; more would not fit. */
const maxNodes = 4_096
/** Chunks of one overlay that can be numbered. */
const maxChunks = 65_535

/** The body on its own: the same bytes for the same content. */
export function encodeBody(body: RecordBody): Uint8Array {
  const writer = new Writer()
  writeBody(writer, body)
  return writer.view()
}

function writeBody(writer: Writer, body: RecordBody): void {
  writer.u8(kinds.indexOf(body.kind))
  if (body.kind === 'alive') {
    writer.ascii(body.url, wireLimits.maxUrlBytes, 'URL')
    for (const count of [body.nodes, body.leads, body.replicas]) writer.varint(count)
    return
  }
  const { streamId, partition } = parseStreamPartId(body.streamPartId)
  writer.ascii(streamId, wireLimits.maxStreamIdBytes, 'stream id')
  writer.u8(partition)
  writer.u16(body.chunks)
  if (body.kind === 'lead') return writer.varint(body.nodes)
  writer.u16(body.chunk)
  writer.count(body.nodes.length, maxNodes, 'nodes')
  for (const node of body.nodes) writeNode(writer, node)
}

function readBody(reader: Reader): RecordBody {
  const number = reader.u8()
  const kind = kinds[number]
  if (kind === undefined) throw trackerError('CLUSTER_RECORD_UNKNOWN', `kind ${number}`)
  if (kind === 'alive') {
    const url = reader.ascii(wireLimits.maxUrlBytes, 'URL')
    return { kind, url, nodes: reader.varint(), leads: reader.varint(), replicas: reader.varint() }
  }
  const streamId = reader.ascii(wireLimits.maxStreamIdBytes, 'stream id')
  const streamPartId = toStreamPartId(toStreamId(streamId), reader.u8())
  const chunks = reader.u16()
  if (kind === 'lead') return { kind, streamPartId, chunks, nodes: reader.varint() }
  const chunk = reader.u16()
  if (chunk >= chunks || chunks > maxChunks) throw trackerError('CLUSTER_RECORD_MALFORMED', `chunk ${chunk}`)
  const count = reader.count(maxNodes, 'nodes')
  const nodes: ReplicatedNode[] = []
  for (let i = 0; i < count; i++) nodes.push(readNode(reader))
  return { kind, streamPartId, chunk, chunks, nodes }
}

function writeNode(writer: Writer, { nodeId, contact, neighbours }: ReplicatedNode): void {
  writer.raw(nodeIdToBytes(nodeId))
  writeContact(writer, contact)
  writer.count(neighbours.length, wireLimits.maxNeighbours, 'neighbours')
  for (const neighbour of neighbours) writer.raw(nodeIdToBytes(neighbour))
}

function readNode(reader: Reader): ReplicatedNode {
  const nodeId = nodeIdFromBytes(reader.view(20))
  const contact = readContact(reader)
  const count = reader.count(wireLimits.maxNeighbours, 'neighbours')
  const neighbours: NodeId[] = []
  for (let i = 0; i < count; i++) neighbours.push(nodeIdFromBytes(reader.view(20)))
  return { nodeId, contact, neighbours }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
