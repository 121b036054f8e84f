import {
  allows,
  protocolError,
  type DelegatedRight,
  type DelegationClaim,
  type PermissionScope,
} from '@runnel/protocol'

/**
 * Throws unless the delegation lets its delegate do that in the stream: DELEGATION_SCOPE, DELEGATION_EXPIRED, or DELEGATION_NOT_YET for
 * what is published. Of a message, `wallMs` is its timestamp.
 */
export function requireDelegated(
  claim: DelegationClaim,
  right: DelegatedRight,
  scope: PermissionScope,
  wallMs: number,
): void {
  const { userId, fromMs, untilMs } = claim
  const what = `${right === 'publishes' ? 'publishing to' : 'reading'} ${scope} as ${userId}`
  if (!allows(claim, right, scope)) throw protocolError('DELEGATION_SCOPE', what)
  const date = (ms: number) => new Date(ms).toISOString()
  if (wallMs >= untilMs) throw protocolError('DELEGATION_EXPIRED', `${what}; it ended ${date(untilMs)}`)
  // Clocks differ: whoever reads may begin a little early, a message may not.
  if (right === 'publishes' && wallMs < fromMs)
    throw protocolError('DELEGATION_NOT_YET', `${what}; it begins ${date(fromMs)}`)
}
