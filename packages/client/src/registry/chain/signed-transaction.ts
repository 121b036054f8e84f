import { getBytes, Transaction } from '@runnel/contracts/ethers'
import { clientError } from '../../errors.ts'
import type { Signed, TransactionFees, UnsentTransaction } from '../../identity/signer.ts'

/** A transaction as signers take it. */
export function unsentOf(transaction: Transaction): UnsentTransaction {
  const { to, data, nonce, gasLimit, chainId, unsignedHash } = transaction
  if (to === null) throw clientError('INVALID_ARGUMENT', 'a change of the registries is a call of a contract')
  const fees = feesOf(transaction)
  return { to, data, nonce, gasLimit, chainId: Number(chainId), fees, digest: getBytes(unsignedHash) }
}

function feesOf({ maxFeePerGas, maxPriorityFeePerGas, gasPrice }: Transaction): TransactionFees {
  return maxFeePerGas === null || maxPriorityFeePerGas === null
    ? { gasPrice: gasPrice ?? 0n }
    : { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * The signed transaction, ready to be sent. Throws SIGNER_OTHER_CHAIN, SIGNER_OTHER_ACCOUNT or SIGNER_FAILED when it is not what the
 * account was asked to sign.
 */
export function checkedSigned(signed: Signed, wanted: Transaction, account: string): string {
  const transaction = read(signed, wanted)
  const { from, to, data, nonce, value, chainId } = transaction
  if (chainId !== wanted.chainId)
    throw clientError('SIGNER_OTHER_CHAIN', `it signed for chain ${chainId}, not ${wanted.chainId}`)
  if (from?.toLowerCase() !== account) throw clientError('SIGNER_OTHER_ACCOUNT', `it should be ${account}`)
  const isWanted =
    to === wanted.to && data === wanted.data && nonce === wanted.nonce && value === wanted.value
  if (!isWanted) throw clientError('SIGNER_FAILED', 'it signed another transaction than it was asked to')
  return transaction.serialized
}

function read(signed: Signed, wanted: Transaction): Transaction {
  try {
    if ('transaction' in signed) return Transaction.from(signed.transaction)
    const transaction = wanted.clone()
    transaction.signature = signed.signature
    return transaction
  } catch (cause) {
    throw clientError('SIGNER_FAILED', 'it gave no signed transaction', { cause })
  }
}
