import {
  ethereumMessageDigest,
  limits,
  nodeIdFromBytes,
  toHex,
  toNodeId,
  type Crypto,
  type Identity,
  type NodeId,
  type RunnelError,
} from '@runnel/protocol'
import * as z from 'zod/mini'
import { clientError, reasonOf } from '../../errors.ts'
import {
  describeIssues,
  staticNetworkSchema,
  type ParsedStaticNetwork,
  type StaticNetwork,
} from '../static-network.ts'

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

const countSchema = z.int().check(z.nonnegative())
const documentSchema = z.strictObject({
  version: z.literal(1),
  owner: z.string().check(z.regex(/^0x[0-9a-f]{40}$/, { error: 'must be an address in lower case' })),
  revision: z.int().check(z.minimum(1)),
  network: z.unknown(),
  history: z.record(
    z.string().check(z.maxLength(limits.maxStreamIdBytes)),
    z.strictObject({ createdMs: countSchema, lossRevision: countSchema }),
  ),
  signature: z
    .string()
    .check(z.regex(/^0x[0-9a-f]{130}$/, { error: 'must be 0x and 130 hexadecimal digits in lower case' })),
})

/** The text of a document, signed by its owner. Throws NETWORK_DOCUMENT_INVALID, or NETWORK_DOCUMENT_NOT_OWNERS for another's key. */
export function signNetworkDocument(document: NetworkDocument, owner: Identity, crypto: Crypto): string {
  if (owner.nodeId !== document.owner)
    throw notOwners(`the key is of ${owner.nodeId}, the owner is ${document.owner}`)
  const unsigned = { version: 1, ...document }
  const signature = toHex(owner.sign(digestOf(unsigned, crypto)))
  const text = `${JSON.stringify({ ...unsigned, signature }, undefined, 2)}\n`
  checkNetworkDocument(text, document.owner, crypto)
  return text
}

/**
 * Reads a document, and checks that the owner signed it; without `owner`, that the one it names did. Throws NETWORK_DOCUMENT_INVALID or
 * NETWORK_DOCUMENT_NOT_OWNERS.
 */
export function checkNetworkDocument(
  text: string,
  owner: NodeId | undefined,
  crypto: Crypto,
): CheckedDocument {
  if (new TextEncoder().encode(text).length > maxDocumentBytes)
    throw invalid(`it is larger than ${maxDocumentBytes} bytes`)
  const content = parseJson(text)
  const { signature, ...unsigned } = check(documentSchema, content)
  if (owner !== undefined && unsigned.owner !== owner)
    throw notOwners(`it is of ${unsigned.owner}, the owner is ${owner}`)
  const digest = digestOf(unsigned, crypto)
  const signer = crypto.recover(digest, bytesOf(signature))
  if (signer === undefined || nodeIdFromBytes(signer) !== unsigned.owner)
    throw notOwners(`the signature is not of ${unsigned.owner}`)
  const { revision, history } = unsigned
  return {
    owner: toNodeId(unsigned.owner),
    revision,
    network: check(staticNetworkSchema, unsigned.network, 'network'),
    history: new Map(Object.entries(history)),
    digest: toHex(digest),
    text,
  }
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

function check<Schema extends z.ZodMiniType>(schema: Schema, content: unknown, place = ''): z.output<Schema> {
  const result = schema.safeParse(content)
  if (result.success) return result.data
  throw invalid(`${place === '' ? '' : `${place}: `}${describeIssues(result.error)}`)
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: (hex.length - 2) / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 + 2 * i, 4 + 2 * i), 16),
  )
}
