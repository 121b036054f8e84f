import type { TransactionResponse } from '@runnel/contracts/ethers'
import { RpcError } from './rpc-error.ts'

/** How long a transaction may take to be mined. */
const timeoutMs = 120_000
/** How often it is asked whether it is. */
const pollIntervalMs = 200

export type SentTransaction = Pick<TransactionResponse, 'hash' | 'provider'>
type Receipt = Awaited<ReturnType<TransactionResponse['provider']['getTransactionReceipt']>>

/**
 * Resolves when a transaction is mined. A question that fails is asked again while there is time, unless `isFinal` says that it always will.
 * ethers' own `wait` leaves a failed question a rejection that nobody handles, and waits on when its provider is closed. Throws
 * TRANSACTION_FAILED, TRANSACTION_UNCONFIRMED, or what the last question failed with.
 */
export async function untilMined(
  { hash, provider }: SentTransaction,
  ask: () => Promise<Receipt> = () => provider.getTransactionReceipt(hash),
  isFinal: (error: unknown) => boolean = () => false,
): Promise<void> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const isLate = performance.now() >= endMs
    const receipt = await ask().catch((error: unknown) => {
      if (isLate || isFinal(error)) throw error
      return null
    })
    if (receipt?.status === 0) throw new RpcError('TRANSACTION_FAILED', hash)
    if (receipt !== null) return
    if (isLate) throw new RpcError('TRANSACTION_UNCONFIRMED', hash)
    await new Promise((resolve) => setTimeout(resolve, pollIntervalMs))
  }
}
