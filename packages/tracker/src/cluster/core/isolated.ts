import type { NodeId, StreamPartId } from '@runnel/protocol'

/** The owner of the work that threw. */
export interface FaultOwner {
  readonly nodeId?: NodeId
  readonly streamPartId?: StreamPartId
}

export interface FaultModules {
  /** Called with what was thrown; the node's connection is closed, if it was a node's work. */
  fault(owner: FaultOwner, error: unknown): void
}

/** Does some work of one node, stream part or record. What it throws ends this work, and the others go on. */
export function isolated(owner: FaultOwner, modules: FaultModules, work: () => void): void {
  try {
    work()
  } catch (error) {
    modules.fault(owner, error)
  }
}
