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
 * Why a node may not be connected in a private network: NODE_NOT_LISTED, or TOO_MANY_NODES_OF_USER beside the open `others`;
 * undefined when it may.
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

/** NODE_NOT_LISTED for a node that is connected and may be no longer; undefined when it may. Takes as long however many others there are. */
export function listingProblem(
  connection: Pick<Connection, 'peerId' | 'actingFor' | 'remoteAddress'>,
  admission: NodeAdmission | undefined,
): RunnelError | undefined {
  if (admission?.isPrivate !== true) return undefined
  const { actingFor, remoteAddress, peerId } = connection
  const userId = userOf(connection)
  const cause = remoteAddress === undefined ? peerId : networkOf(remoteAddress)
  const isListed = admission.allows(userId, actingFor?.delegation, cause)
  return isListed ? undefined : protocolError('NODE_NOT_LISTED', userId)
}
