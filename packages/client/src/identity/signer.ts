import type { DelegationTypedData } from '@runnel/protocol'

/** A transaction that a user is asked to sign and send. */
export interface UnsentTransaction {
  /** A contract's address. */
  readonly to: string
  /** The encoded call, as hexadecimal digits. */
  readonly data: string
  readonly chainId: number
}

/**
 * Where a user's key is, if it is not in this process: a wallet, a remote signer, a hardware module. It is asked rarely: for a delegation,
 * once a session, and for changes of the registries. Each call throws SIGNER_REFUSED when its owner said no, or SIGNER_FAILED.
 */
export interface Signer {
  /** Signs without asking a person, so that delegations are renewed by themselves. Default false. */
  readonly isSilent?: boolean
  /** The user's address, in lower case. */
  address(signal?: AbortSignal): Promise<string>
  /** The signature of typed data (EIP-712), as hexadecimal digits: 65 bytes, or what the contract at the address takes (ERC-1271). */
  signTypedData(data: DelegationTypedData, signal?: AbortSignal): Promise<string>
  /** Signs and sends a transaction from the user's address; gives its hash. */
  sendTransaction(transaction: UnsentTransaction, signal?: AbortSignal): Promise<string>
}
