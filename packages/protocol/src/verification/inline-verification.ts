import type { Crypto } from '../ports.ts'
import { isBatchSignedBy } from '../signing/batch-signature.ts'
import type { VerificationPool } from './verification-pool.ts'

/** Checks at once, on the caller's thread: what is there where there are no workers. */
export function inlineVerification(crypto: Crypto): VerificationPool {
  let isStopped = false
  return {
    workersLost: 0,
    verify(batch, signerId, onVerdict) {
      if (!isStopped) onVerdict(isBatchSignedBy(batch, crypto, signerId))
      return !isStopped
    },
    stop: () => void (isStopped = true),
  }
}
