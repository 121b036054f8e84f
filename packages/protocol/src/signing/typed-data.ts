import { LRU } from 'tiny-lru'
import { nodeIdToBytes, toNodeId } from '../ids/node-id.ts'
import type { Crypto } from '../ports.ts'

/** Runnel signs sentences, dates and addresses only: what a person can read. */
export interface TypedField {
  readonly name: string
  readonly type: 'string' | 'address'
}

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
] as const

/** What a user signs (EIP-712), so that a wallet shows each line of it to its user: for `eth_signTypedData_v4`. */
export interface TypedData {
  readonly domain: { readonly name: string; readonly version: string; readonly chainId: number }
  /** Of the domain and of the message, by their names. */
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>
  readonly primaryType: string
  readonly message: Readonly<Record<string, string>>
}

/** A kind of statement that users sign. */
export interface StatementKind<Name extends string> {
  readonly primaryType: string
  readonly fields: readonly (TypedField & { readonly name: Name })[]
}

export function typedDataOf<Name extends string>(
  { primaryType, fields }: StatementKind<Name>,
  chainId: number,
  message: Readonly<Record<Name, string>>,
): TypedData {
  return {
    domain: { name: 'Runnel', version: '1', chainId },
    types: { EIP712Domain: domainFields, [primaryType]: fields },
    primaryType,
    message,
  }
}

/** When a user signs: a date, and for a contract the block at which it agrees to the signature. */
export function signedAt(dateMs: number, block: number): string {
  return `${new Date(dateMs).toISOString()}${block === 0 ? '' : `, block ${block}`}`
}

/** What a signature of typed data signs: 32 bytes (EIP-712, section "Definition of hashStruct"). */
export function typedDataDigest(
  { domain, types, primaryType, message }: TypedData,
  crypto: Crypto,
): Uint8Array {
  const hash = (text: string): Uint8Array => hashOfText(text, crypto)
  const typeHash = (name: string): Uint8Array => {
    const fields = (types[name] ?? []).map((field) => `${field.type} ${field.name}`)
    return hash(`${name}(${fields.join(',')})`)
  }
  const domainHash = crypto.keccak256(
    typeHash('EIP712Domain'),
    hash(domain.name),
    hash(domain.version),
    word(numberBytes(domain.chainId)),
  )
  const values = (types[primaryType] ?? []).map(({ name, type }) => {
    const value = message[name] ?? ''
    return type === 'address' ? word(nodeIdToBytes(toNodeId(value))) : hash(value)
  })
  const messageHash = crypto.keccak256(typeHash(primaryType), ...values)
  return crypto.keccak256(Uint8Array.of(0x19, 0x01), domainHash, messageHash)
}

/** Hashes of texts that are in every statement of a kind, or in most. */
const textHashes = new LRU<Uint8Array>(64)

function hashOfText(text: string, crypto: Crypto): Uint8Array {
  const known = textHashes.get(text)
  if (known !== undefined) return known
  const hash = crypto.keccak256(new TextEncoder().encode(text))
  textHashes.set(text, hash)
  return hash
}

/** At the end of 32 bytes. */
function word(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(32)
  padded.set(bytes, 32 - bytes.length)
  return padded
}

function numberBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, Math.floor(value / 2 ** 32))
  view.setUint32(4, value % 2 ** 32)
  return bytes
}
