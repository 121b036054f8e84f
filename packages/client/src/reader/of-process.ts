import type { RunnelError } from '@runnel/protocol'
import { isLasting } from '../encryption/lasting-reasons.ts'

const codes = [
  'CHAIN_UNREACHABLE',
  'CHAIN_DISPUTED',
  'CHAIN_CALL_FAILED',
  'TOO_MANY_LOOKUPS',
  'ABORTED',
  'CLIENT_CLOSED',
]

/**
 * Whether a message cannot be read for a reason that is this process's: it has not the user's present reading key, the registry does not answer,
 * or the client closes. Another process may read it, and this one later: it is not done.
 */
export const isOfProcess = (error: RunnelError): boolean => codes.includes(error.code) || isLasting(error)
