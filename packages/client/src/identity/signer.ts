import type { TypedData } from '@runnel/protocol'

/** A contract call that a user is asked to sign. Contains everything that signing takes: a signer needs no access to the chain. */
export interface UnsentTransaction {
  readonly chainId: number
  /** A contract's address. */
  readonly to: string
  /** The encoded call, as hexadecimal digits. */
  readonly data: string
  readonly nonce: number
  readonly gasLimit: bigint
  readonly fees: TransactionFees
  /** The bytes to sign: 32 bytes. */
  readonly digest: Uint8Array
}

/** Fees in wei per unit of gas. Chains without EIP-1559 have only `gasPrice`. */
export type TransactionFees =
  { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | { readonly gasPrice: bigint }

/** A complete signed transaction, or the 65-byte signature of its digest, as hexadecimal digits. */
export type Signed = { readonly transaction: string } | { readonly signature: string }

/**
 * Sends a signed transaction to the chain, and returns its hash. Throws SIGNER_OTHER_CHAIN, SIGNER_OTHER_ACCOUNT or SIGNER_FAILED, and
 * sends nothing, if it is not the transaction that was asked for.
 */
export type Broadcast = (signed: Signed) => Promise<string>

/**
 * Holds a user's key: in this process, in a wallet, in a remote signer, or in a hardware module behind one. It is asked rarely: for a
 * delegation and a reading key, once per session; for a card, once per reading key; and for changes of the registries. Each call throws
 * SIGNER_REFUSED if the signer's owner refused, SIGNER_FAILED, SIGNER_UNREACHABLE, SIGNER_OTHER_CHAIN, or ABORTED. Wallets throw
 * WALLET_REFUSED and WALLET_FAILED, because their users have other things to do about it.
 */
export interface Signer {
  /** Whether it signs without asking a person, so that delegations are renewed automatically. Default false. */
  readonly isSilent?: boolean
  /** Returns the user's address, in lower case; the same each time. */
  address(signal?: AbortSignal): Promise<string>
  /**
   * Returns the signature of typed data (EIP-712), as hexadecimal digits: 65 bytes, or what the contract at the address accepts
   * (ERC-1271).
   */
  signTypedData(data: TypedData, signal?: AbortSignal): Promise<string>
  /**
   * Signs a transaction from the user's address and has it sent: by `broadcast`, or by the wallet if a wallet does both. Returns its hash.
   */
  sendTransaction(transaction: UnsentTransaction, broadcast: Broadcast, signal?: AbortSignal): Promise<string>
}

/** The part of a signer that statements of its user need: delegations, cards, reading keys. */
export type StatementSigner = Pick<Signer, 'address' | 'signTypedData' | 'isSilent'>
