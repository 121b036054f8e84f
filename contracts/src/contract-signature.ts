import { Interface, type BlockTag, type Provider } from '@runnel/contracts/ethers'
import { callContained } from './contained-call.ts'

const account = new Interface([
  'function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)',
])

/** What an account answers that takes the signature for its own: the selector, in a word of its own (ERC-1271). */
const accepted = `0x1626ba7e${'0'.repeat(56)}`

/** Gas that an account may burn to check a signature: enough for dozens of owners, or one curve in plain Solidity. */
const maxSignatureGas = 5_000_000

/**
 * Whether the contract at an address takes a signature for its own (ERC-1271). False too where there is no contract, or one that
 * reverts, burns too much gas or answers anything else. Throws what ethers throws when the endpoint does not answer, or does not
 * have the state of that block.
 */
export async function acceptsSignature(
  provider: Provider,
  { account: target, digest, signature, blockTag }: SignatureQuestion,
): Promise<boolean> {
  const data = account.encodeFunctionData('isValidSignature', [digest, signature])
  const { ok, sizeBytes, word } = await callContained(provider, {
    target,
    data,
    gas: maxSignatureGas,
    blockTag,
  })
  return ok && sizeBytes === 32n && word === accepted
}

/** What an account is asked. */
export interface SignatureQuestion {
  /** Its address. */
  readonly account: string
  /** 32 bytes, as hexadecimal digits. */
  readonly digest: string
  readonly signature: Uint8Array
  /** With the state after which block; the newest by default. */
  readonly blockTag?: BlockTag | undefined
}
