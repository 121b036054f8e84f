/** Signing and checking transactions. Imports ethers, so it is loaded when it is used. */
import { Transaction, Wallet, type TransactionLike } from 'ethers'
import { clientError } from '../errors.ts'
import type { UnsentTransaction } from './signer.ts'

/** The signed transaction, as hexadecimal digits. */
export function signTransaction(transaction: UnsentTransaction, privateKey: string): Promise<string> {
  return new Wallet(privateKey).signTransaction(transactionLike(transaction))
}

/**
 * Throws SIGNER_OTHER_CHAIN, or SIGNER_FAILED, when a signed transaction is another one than was asked for, or of another account:
 * it must not be sent.
 */
export function checkSigned(signed: string, wanted: UnsentTransaction, address: string): void {
  const { from, to, data, nonce, value, chainId } = parse(signed)
  if (chainId !== BigInt(wanted.chainId)) {
    throw clientError('SIGNER_OTHER_CHAIN', `it signed for chain ${chainId}, not ${wanted.chainId}`)
  }
  const isWanted =
    from?.toLowerCase() === address &&
    to?.toLowerCase() === wanted.to.toLowerCase() &&
    data === wanted.data.toLowerCase() &&
    nonce === wanted.nonce &&
    value === 0n
  if (!isWanted) throw clientError('SIGNER_FAILED', 'it signed another transaction than it was asked to')
}

function parse(signed: string): Transaction {
  try {
    return Transaction.from(signed)
  } catch (cause) {
    throw clientError('SIGNER_FAILED', 'it gave no signed transaction', { cause })
  }
}

function transactionLike({ fees, ...transaction }: UnsentTransaction): TransactionLike {
  return { ...transaction, ...fees, type: 'gasPrice' in fees ? 0 : 2 }
}
