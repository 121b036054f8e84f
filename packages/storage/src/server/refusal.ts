import { isCardError, isDelegationError, isRunnelError, limits, type RunnelError } from '@runnel/protocol'
import { refusals, storageError } from '../errors.ts'

/** What an asker is told of an error. */
export interface Refusal {
  /** Of `refusals`, of a delegation (DELEGATION_…) or a card (CARD_…), or CONTRACT_NEEDS_CHAIN. */
  readonly code: string
  readonly text: string
  readonly remedy: string
  /** The asker can do nothing about it: it is for the log of this node. */
  readonly isOurs: boolean
}

/** Anything but a refusal becomes STORE_FAILED, and its text stays here: it may name files. */
export function refusalOf(error: unknown): Refusal {
  if (isRunnelError(error) && isRefusal(error)) {
    const { code, message, remedy } = error
    return { code, text: message.slice(0, limits.maxTextBytes / 4), remedy, isOurs: code === 'STORE_FAILED' }
  }
  const { message, remedy } = storageError('STORE_FAILED')
  return { code: 'STORE_FAILED', text: message, remedy, isOurs: true }
}

function isRefusal(error: RunnelError): boolean {
  const { code } = error
  const isOfRequest = Object.hasOwn(refusals, code) || code === 'CONTRACT_NEEDS_CHAIN'
  return isOfRequest || isDelegationError(error) || isCardError(error)
}
