import {
  ethereumMessageDigest,
  isNodeId,
  nodeIdFromBytes,
  toHex,
  type Crypto,
  type Identity,
  type NodeId,
  type RunnelError,
} from '@runnel/protocol'
import { clientError, reasonOf } from '../../errors.ts'
import type { ParsedStaticNetwork, StaticNetwork } from '../static-network.ts'

/** Largest document that is read, in bytes of UTF-8: room for some thousands of streams. */
export const maxDocumentBytes = 1_048_576

/** What a document remembers of a stream. */
export interface StreamHistory {
  /** When it was created, in Unix milliseconds: older messages belong to an earlier stream of that id. */
  readonly createdMs: number
  /** The last revision in which somebody lost the permission to subscribe or to grant; 0 where nobody did. */
  readonly lossRevision: number
}

/** A network without a chain, as its owner wrote it last. */
export interface NetworkDocument {
  /** Who may change it, by signing the next revision. */
  readonly owner: NodeId
  /** From 1, and one more for each change. It stands for the block of a chain. */
  readonly revision: number
  readonly network: StaticNetwork
  /** By stream id. */
  readonly history: Readonly<Record<string, StreamHistory>>
}

/** A document whose signature was checked. */
export interface CheckedDocument {
  readonly owner: NodeId
  readonly revision: number
  readonly network: ParsedStaticNetwork
  readonly history: ReadonlyMap<string, StreamHistory>
  /** What was signed: two documents with one digest are the same. */
  readonly digest: string
  /** As it was read. */
  readonly text: string
}

/** What documents are made and checked with. */
export interface DocumentTools {
  readonly crypto: Crypto
  /** Checks what is described. Given, as pages have it already. Throws NETWORK_DOCUMENT_INVALID. */
  readonly parseNetwork: (content: unknown) => ParsedStaticNetwork
}

/** The text of a document, signed by its owner. Throws NETWORK_DOCUMENT_INVALID, or NETWORK_DOCUMENT_NOT_OWNERS for another's key. */
export function signNetworkDocument(
  document: NetworkDocument,
  owner: Identity,
  tools: DocumentTools,
): string {
  if (owner.nodeId !== document.owner)
    throw notOwners(`the key is of ${owner.nodeId}, the owner is ${document.owner}`)
  const unsigned = { version: 1, ...document }
  const signature = toHex(owner.sign(digestOf(unsigned, tools.crypto)))
  const text = `${JSON.stringify({ ...unsigned, signature }, undefined, 2)}\n`
  checkNetworkDocument(text, document.owner, tools)
  return text
}

/**
 * Reads a document, and checks that the owner signed it; without `owner`, that the one it names did. Throws NETWORK_DOCUMENT_INVALID or
 * NETWORK_DOCUMENT_NOT_OWNERS.
 */
export function checkNetworkDocument(
  text: string,
  owner: NodeId | undefined,
  { crypto, parseNetwork }: DocumentTools,
): CheckedDocument {
  if (new TextEncoder().encode(text).length > maxDocumentBytes)
    throw invalid(`it is larger than ${maxDocumentBytes} bytes`)
  const { signature, ...unsigned } = envelopeIn(parseJson(text))
  if (owner !== undefined && unsigned.owner !== owner)
    throw notOwners(`it is of ${unsigned.owner}, the owner is ${owner}`)
  const digest = digestOf(unsigned, crypto)
  const signer = crypto.recover(digest, bytesOf(signature))
  if (signer === undefined || nodeIdFromBytes(signer) !== unsigned.owner)
    throw notOwners(`the signature is not of ${unsigned.owner}`)
  const { revision, history } = unsigned
  return {
    owner: unsigned.owner,
    revision,
    network: parseNetwork(unsigned.network),
    history: new Map(Object.entries(history)),
    digest: toHex(digest),
    text,
  }
}

interface Envelope extends Omit<NetworkDocument, 'network'> {
  readonly version: 1
  readonly network: unknown
  readonly signature: string
}

const fields = ['version', 'owner', 'revision', 'network', 'history', 'signature']

/** All but what is described. Throws NETWORK_DOCUMENT_INVALID. */
function envelopeIn(content: unknown): Envelope {
  if (!isObject(content)) throw invalid('it is no object')
  const other = [...Object.keys(content), ...fields].find((key) => !fields.includes(key) || !(key in content))
  if (other !== undefined) throw invalid(`${other}: ${other in content ? 'nobody knows this' : 'is missing'}`)
  const { version, owner, revision, history, signature } = content
  if (version !== 1) throw invalid('version: must be 1')
  if (!isNodeId(owner)) throw invalid('owner: must be an address in lower case')
  if (!isCount(revision) || revision < 1) throw invalid('revision: must be a whole number from 1')
  if (typeof signature !== 'string' || !/^0x[0-9a-f]{130}$/.test(signature))
    throw invalid('signature: must be 0x and 130 hexadecimal digits in lower case')
  if (!isObject(history) || !Object.values(history).every(isHistory))
    throw invalid('history: must have createdMs and lossRevision of streams')
  return content as unknown as Envelope
}

function isHistory(value: unknown): value is StreamHistory {
  const isPlain = isObject(value) && Object.keys(value).length === 2
  return isPlain && isCount(value['createdMs']) && isCount(value['lossRevision'])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Of two documents of one owner, which one counts. Throws NETWORK_DOCUMENT_OLDER where that is not the second, and it is another one. */
export function newerDocument(known: CheckedDocument, found: CheckedDocument): CheckedDocument {
  if (found.digest === known.digest) return known
  if (found.revision > known.revision) return found
  const other = found.revision === known.revision ? 'another document of revision' : 'revision'
  throw older(`${other} ${found.revision}, known is ${known.revision}`)
}

/** Throws NETWORK_DOCUMENT_OLDER for a revision before the first that is accepted. */
export function requireRevision(found: CheckedDocument, least: number): void {
  if (found.revision < least) throw older(`revision ${found.revision}, at least ${least} is asked for`)
}

const older = (detail: string): RunnelError => clientError('NETWORK_DOCUMENT_OLDER', detail)
const invalid = (detail: string): RunnelError => clientError('NETWORK_DOCUMENT_INVALID', detail)
const notOwners = (detail: string): RunnelError => clientError('NETWORK_DOCUMENT_NOT_OWNERS', detail)

/** What the owner signs: the document without its signature, with the keys of objects in order (as in RFC 8785), under a name of its own. */
function digestOf(unsigned: object, crypto: Crypto): Uint8Array {
  const text = `Runnel network document\n${canonical(unsigned)}`
  return ethereumMessageDigest(crypto.keccak256(new TextEncoder().encode(text)), crypto)
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw clientError('NETWORK_DOCUMENT_INVALID', `it is not JSON: ${reasonOf(cause)}`, { cause })
  }
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: (hex.length - 2) / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 + 2 * i, 4 + 2 * i), 16),
  )
}
