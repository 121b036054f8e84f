import { toNodeId, type Crypto, type NodeId, type TypedData } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import type { StatementSigner } from './signer.ts'

/** Tells which accounts on the chain are contracts. */
export interface AccountsOnChain {
  /** Returns the chain's newest block if there is a contract at the address, whose owners sign for it (ERC-1271); otherwise 0. */
  contractBlock(address: NodeId): Promise<number>
}

/** For networks without a chain: all users are keys. */
export const keysOnly: AccountsOnChain = { contractBlock: () => Promise.resolve(0) }

/** What a user says, before it is signed. */
interface Claim {
  readonly userId: NodeId
  readonly block: number
}

/** A kind of statement that users sign: delegations, cards. */
export interface Statement<C extends Claim> {
  readonly typedData: (claim: C, crypto: Crypto) => TypedData
  readonly isSignedByKey: (signed: C & { readonly signature: Uint8Array }, crypto: Crypto) => boolean
  /** Throws for what nobody takes. */
  readonly encode: (signed: C & { readonly signature: Uint8Array }) => Uint8Array
}

/** Who signs, and at which block where that is a contract. */
export async function signingUser(
  signer: StatementSigner,
  accounts: AccountsOnChain,
  signal?: AbortSignal,
): Promise<Claim> {
  const userId = toNodeId(await signer.address(signal))
  return { userId, block: await accounts.contractBlock(userId) }
}

/**
 * Has a signer's user sign a claim. Of a contract's signature is known only here that it came from the signer: the chain knows whether
 * the contract backs it. Throws what signers throw; what `encode` throws, before anybody is asked; SIGNER_OTHER_ACCOUNT when somebody else
 * signed, SIGNER_FAILED when nobody did.
 */
export async function requestSignature<C extends Claim>(
  signer: StatementSigner,
  { typedData, isSignedByKey, encode }: Statement<C>,
  { claim, crypto, signal }: { claim: C; crypto: Crypto; signal?: AbortSignal | undefined },
): Promise<C & { readonly signature: Uint8Array }> {
  encode({ ...claim, signature: new Uint8Array(65) })
  const answer = bytesOfHex(await signer.signTypedData(typedData(claim, crypto), signal))
  if (answer === undefined) throw clientError('SIGNER_FAILED', 'it gave no signature')
  const byKey = { ...claim, signature: withParity(answer) }
  if (isSignedByKey(byKey, crypto)) return byKey
  if (claim.block === 0) throw clientError('SIGNER_OTHER_ACCOUNT', `it should be ${claim.userId}`)
  const byContract = { ...claim, signature: answer }
  encode(byContract)
  return byContract
}

/** Signers of Ethereum end a key's signature with 27 or 28, this protocol with 0 or 1. */
function withParity(signature: Uint8Array): Uint8Array {
  const last = signature[64]
  if (signature.length !== 65 || (last !== 27 && last !== 28)) return signature
  return signature.with(64, last - 27)
}
