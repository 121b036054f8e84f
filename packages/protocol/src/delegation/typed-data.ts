import { LRU } from 'tiny-lru'
import { nodeIdToBytes, toNodeId } from '../ids/node-id.ts'
import type { Crypto } from '../ports.ts'
import type { DelegationClaim } from './delegation.ts'

/**
 * What the user signs: typed data (EIP-712), so that a wallet shows each line of it to its user. All but the two addresses are
 * sentences and dates, made from the claim in one way only.
 */
const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
] as const
const fields = [
  { name: 'purpose', type: 'string' },
  { name: 'account', type: 'address' },
  { name: 'delegate', type: 'address' },
  { name: 'may', type: 'string' },
  { name: 'streams', type: 'string' },
  { name: 'askedBy', type: 'string' },
  { name: 'from', type: 'string' },
  { name: 'until', type: 'string' },
] as const

/** For `eth_signTypedData_v4`. */
export interface DelegationTypedData {
  readonly domain: { readonly name: string; readonly version: string; readonly chainId: number }
  readonly types: {
    readonly EIP712Domain: typeof domainFields
    readonly Delegation: typeof fields
  }
  readonly primaryType: 'Delegation'
  readonly message: Readonly<Record<(typeof fields)[number]['name'], string>>
}

export function delegationTypedData(claim: DelegationClaim): DelegationTypedData {
  const { block, fromMs, untilMs, streams, publishes, reads } = claim
  const rights = [publishes && 'publish', reads && 'read'].filter((right) => right !== false)
  return {
    domain: { name: 'Runnel', version: '1', chainId: claim.chainId },
    types: { EIP712Domain: domainFields, Delegation: fields },
    primaryType: 'Delegation',
    message: {
      purpose:
        'Let the key of a page or program act for this account on the Runnel network. It moves no money.',
      account: claim.userId,
      delegate: claim.delegateId,
      may: rights.join(' and '),
      streams: streams.length === 0 ? 'all streams' : streams.join(', '),
      askedBy: claim.requester,
      from: `${new Date(fromMs).toISOString()}${block === 0 ? '' : `, block ${block}`}`,
      until: new Date(untilMs).toISOString(),
    },
  }
}

function typeText(name: string, of: readonly { readonly name: string; readonly type: string }[]): string {
  return `${name}(${of.map(({ name, type }) => `${type} ${name}`).join(',')})`
}

/** The 32 bytes that the user signs. */
export function delegationDigest(claim: DelegationClaim, crypto: Crypto): Uint8Array {
  return typedDataDigest(delegationTypedData(claim), crypto)
}

/** What a signature of typed data signs: 32 bytes (EIP-712, section "Definition of hashStruct"). */
export function typedDataDigest({ domain, message }: DelegationTypedData, crypto: Crypto): Uint8Array {
  const values = fields.map(({ name, type }) =>
    type === 'address' ? word(nodeIdToBytes(toNodeId(message[name]))) : hashOfText(message[name], crypto),
  )
  const messageHash = crypto.keccak256(hashOfText(messageType, crypto), ...values)
  return crypto.keccak256(Uint8Array.of(0x19, 0x01), domainHash(domain, crypto), messageHash)
}

const domainType = typeText('EIP712Domain', domainFields)
const messageType = typeText('Delegation', fields)

function domainHash({ name, version, chainId }: DelegationTypedData['domain'], crypto: Crypto): Uint8Array {
  const texts = [domainType, name, version].map((text) => hashOfText(text, crypto))
  return crypto.keccak256(...texts, word(numberBytes(chainId)))
}

/** Hashes of texts that are in every delegation, or in most. */
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
