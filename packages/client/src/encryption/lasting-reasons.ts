import { isRunnelError, type RunnelError } from '@runnel/protocol'

const codes = [
  ...['NO_READING_KEY', 'READING_KEY_CHANGED', 'READING_KEY_OTHER_GENERATION', 'CARD_NEEDS_USER'],
  ...['WALLET_REFUSED', 'SIGNER_REFUSED'],
]

/** Whether an error is a reason why a process has no reading key, or not the user's present one, and gets none by asking again. */
export function isLasting(error: unknown): error is RunnelError {
  return isRunnelError(error) && codes.includes(error.code)
}
