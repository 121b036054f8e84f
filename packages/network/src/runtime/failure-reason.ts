import type { FailureReason, RunnelError } from '@runnel/protocol'

const reasons: Readonly<Record<string, FailureReason>> = {
  DIAL_TIMEOUT: 'timeout',
  HANDSHAKE_TIMEOUT: 'timeout',
  NO_COMMON_TRANSPORT: 'incompatible',
  UNSUPPORTED_VERSION: 'incompatible',
  TOO_MANY_CONNECTIONS: 'refused',
  MISBEHAVED: 'refused',
  NODE_NOT_LISTED: 'refused',
  DELEGATION_REVOKED: 'refused',
  TOO_MANY_NODES_OF_USER: 'refused',
}

/** The reason to report to the tracker for a link that could not be opened. */
export function failureReasonOf(error: RunnelError): FailureReason {
  return reasons[error.code] ?? 'unreachable'
}
