import type { TypedData } from '@runnel/protocol'

/** A call of a contract that a user is asked to sign. All that signing takes is in it: a signer needs no access to the chain. */
export interface UnsentTransaction {
  readonly chainId: number
  /** A contract's address. */
  readonly to: string
  /** The encoded call, as hexadecimal digits. */
  readonly data: string
  readonly nonce: number
  readonly gasLimit: bigint
  readonly fees: TransactionFees
  /** What its signature signs: 32 bytes. */
  readonly digest: Uint8Array
}

/** In wei for a unit of gas. Chains without EIP-1559 have `gasPrice` alone. */
export type TransactionFees =
  { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | { readonly gasPrice: bigint }

/** A whole signed transaction, or the 65 bytes of the signature of its digest, as hexadecimal digits. */
export type Signed = { readonly transaction: string } | { readonly signature: string }

/**
 * Sends what was signed to the chain; gives the hash. Throws SIGNER_OTHER_CHAIN, SIGNER_OTHER_ACCOUNT or SIGNER_FAILED, and sends nothing,
 * when it is not what was asked for.
 */
export type Broadcast = (signed: Signed) => Promise<string>

/**
 * Where a user's key is: in this process, in a wallet, in a remote signer, in a hardware module behind one. It is asked rarely: for a
 * delegation and a reading key, once a session, for a card, once a reading key, and for changes of the registries. Each call throws
 * SIGNER_REFUSED when the signer's owner said no, SIGNER_FAILED, SIGNER_UNREACHABLE, SIGNER_OTHER_CHAIN, or ABORTED. Wallets have
 * WALLET_REFUSED and WALLET_FAILED, as their user has something else to do.
 */
export interface Signer {
  /** Signs without asking a person, so that delegations are renewed by themselves. Default false. */
  readonly isSilent?: boolean
  /** The user's address, in lower case; the same each time. */
  address(signal?: AbortSignal): Promise<string>
  /** The signature of typed data (EIP-712), as hexadecimal digits: 65 bytes, or what the contract at the address takes (ERC-1271). */
  signTypedData(data: TypedData, signal?: AbortSignal): Promise<string>
  /**
   * Signs a transaction from the user's address and has it sent: by `broadcast`, or where a wallet does both, by the wallet. Gives its
   * hash.
   */
  sendTransaction(transaction: UnsentTransaction, broadcast: Broadcast, signal?: AbortSignal): Promise<string>
}

/** Of a signer, what statements of its user take: delegations, cards, reading keys. */
export type StatementSigner = Pick<Signer, 'address' | 'signTypedData'>
