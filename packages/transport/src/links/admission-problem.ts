import { limits, networkOf, protocolError, type NodeAdmission, type RunnelError } from '@runnel/protocol'
import type { Connection } from '../ports.ts'

/** For whom the node at the other end acts: its user, or itself. */
export function userOf({
  peerId,
  actingFor,
}: Pick<Connection, 'peerId' | 'actingFor'>): Connection['peerId'] {
  return actingFor?.userId ?? peerId
}

/**
 * Why a node may not be connected in a private network: NODE_NOT_LISTED; DELEGATION_REVOKED where its user is listed; or
 * TOO_MANY_NODES_OF_USER beside the open `others`. Undefined when it may.
 */
export function admissionProblem(
  connection: Pick<Connection, 'peerId' | 'actingFor' | 'remoteAddress'>,
  others: Iterable<Connection>,
  admission: NodeAdmission | undefined,
): RunnelError | undefined {
  if (admission?.isPrivate !== true) return undefined
  const unlisted = listingProblem(connection, admission)
  if (unlisted !== undefined) return unlisted
  const userId = userOf(connection)
  const nodes = new Set<string>()
  for (const other of others) if (userOf(other) === userId) nodes.add(other.peerId)
  nodes.delete(connection.peerId)
  return nodes.size < limits.maxNodesOfUser ? undefined : protocolError('TOO_MANY_NODES_OF_USER', userId)
}

/** NODE_NOT_LISTED or DELEGATION_REVOKED for a node that may be connected no longer; undefined when it may. Takes as long however many others there are. */
export function listingProblem(
  connection: Pick<Connection, 'peerId' | 'actingFor' | 'remoteAddress'>,
  admission: NodeAdmission | undefined,
): RunnelError | undefined {
  if (admission?.isPrivate !== true) return undefined
  const { actingFor, remoteAddress, peerId } = connection
  const userId = userOf(connection)
  const cause = remoteAddress === undefined ? peerId : networkOf(remoteAddress)
  if (!admission.allows(userId, undefined, cause)) return protocolError('NODE_NOT_LISTED', userId)
  if (actingFor !== undefined && !admission.allows(userId, actingFor.delegation, cause))
    return protocolError('DELEGATION_REVOKED', `or a contract, ${userId}, is not known to back it`)
  return undefined
}
