import type { NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { Replica } from '../core/replica.ts'
import type { Heir } from './core/believed-lead.ts'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { FaultModules } from './core/isolated.ts'
import type { ReplicaReader } from './replica-reader.ts'

/** Trackers that are ready to lead a stream part: the one that does, and the next. */
const replicasPerStreamPart = 2
/** Trackers whose replicas of one stream part are looked for. */
const maxWriters = 4

export interface SuccessionModules extends FaultModules {
  readonly self: NodeId
  readonly replicas: ReplicaReader
  /** Who is responsible for a stream part, the one that should lead first. */
  order(id: StreamPartId): readonly NodeId[]
  isLinked(tracker: NodeId): boolean
  leads(id: StreamPartId): boolean
  /** The overlay goes on like that. */
  continue(id: StreamPartId, replica: Replica): void
  count(name: ClusterCounterName): void
}

/** Continues overlays from what the trackers that led them before have left behind. */
export class Succession {
  readonly #modules: SuccessionModules

  constructor(modules: SuccessionModules) {
    this.#modules = modules
  }

  /** A stream part comes here. Its replica is mostly here as well; where it is not, nodes are heard meanwhile. */
  prepare(status: Status): void {
    const { streamPartId: id } = status
    const { self, replicas, isLinked, count, leads } = this.#modules
    const writers = this.#writers(id)
    const heir: Heir = { self, isGone: (tracker) => !isLinked(tracker) }
    const found = replicas.local(id, writers, heir)
    if (found !== undefined) return this.#continue(id, found)
    if (status.neighbours.length === 0) return
    replicas
      .remote(id, writers, heir)
      .then((replica) => {
        if (replica === undefined) count('replicasMissing')
        else if (leads(id)) this.#continue(id, replica)
      })
      .catch((error: unknown) => this.#modules.fault({ streamPartId: id }, error))
  }

  /** Whose replicas of a stream part are looked at: those that should have led it before this tracker, or in its place. */
  #writers(id: StreamPartId): readonly NodeId[] {
    const order = this.#modules.order(id)
    const count = Math.max(replicasPerStreamPart, order.indexOf(this.#modules.self) + 1)
    return order.slice(0, count).slice(-maxWriters)
  }

  #continue(id: StreamPartId, replica: Replica): void {
    this.#modules.count('replicasFound')
    this.#modules.continue(id, replica)
  }
}
