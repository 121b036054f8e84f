import { noEntries, type NodeId, type Status } from '@runnel/protocol'
import type { Member } from './member.ts'

/** The longest round-trip time that counts, in milliseconds: a link whose pings take longer is taken for dead. */
const maxRttMs = 12_000

/** What a node would report now, as far as the tracker knows. */
export function statusOf(member: Member, claimed: ReadonlySet<NodeId> | undefined): Status {
  const neighbours = [...(claimed ?? member.told)].map((nodeId) => {
    const transport = member.transports.get(nodeId)
    return { nodeId, rttMs: member.rttsMs.get(nodeId), ...(transport !== undefined && { transport }) }
  })
  const counter = claimed === undefined ? member.toldCounter : member.counter
  const { streamPartId, membership } = member
  return {
    ...{ type: 'status', streamPartId, counter, neighbours, failed: [] },
    ...(membership === undefined ? {} : { membership }),
  }
}

/**
 * The round-trip times in a status. They are remembered for many peers, so their keys are the ids that the tracker holds already, and not copies
 * from each packet.
 */
export function rttsOf(
  status: Status,
  members: ReadonlyMap<NodeId, { readonly nodeId: NodeId }>,
): ReadonlyMap<NodeId, number> {
  const rttsMs = new Map<NodeId, number>()
  for (const { nodeId, rttMs } of status.neighbours)
    if (rttMs !== undefined) rttsMs.set(members.get(nodeId)?.nodeId ?? nodeId, Math.min(rttMs, maxRttMs))
  return rttsMs
}

/** The transports after a status: what it does not tell is as before. */
export function transportsOf(
  status: Status,
  before: ReadonlyMap<NodeId, number>,
): ReadonlyMap<NodeId, number> {
  const transports = new Map<NodeId, number>()
  for (const { nodeId, transport = before.get(nodeId) } of status.neighbours)
    if (transport !== undefined) transports.set(nodeId, transport)
  return transports.size === 0 ? noEntries() : transports
}
