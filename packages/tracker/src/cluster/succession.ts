import type { NodeId, Status, StreamPartId } from '@runnel/protocol'
import type { Replica } from '../core/replica.ts'
import type { Heir } from './core/believed-lead.ts'
import type { ClusterCounterName } from './core/cluster-counters.ts'
import type { FaultModules } from './core/isolated.ts'
import type { ReplicaReader } from './replica-reader.ts'

/** Trackers prepared to lead a stream part: the leader and its successor. */
const replicasPerStreamPart = 2
/** Trackers whose replicas of one stream part are looked for. */
const maxWriters = 4

export interface SuccessionModules extends FaultModules {
  readonly self: NodeId
  readonly replicas: ReplicaReader
  /** The trackers responsible for a stream part, the preferred leader first. */
  order(id: StreamPartId): readonly NodeId[]
  isLinked(tracker: NodeId): boolean
  leads(id: StreamPartId): boolean
  /** Continues the overlay from this replica. */
  continue(id: StreamPartId, replica: Replica): void
  count(name: ClusterCounterName): void
}

/** Continues overlays from the replicas that earlier leaders have left. */
export class Succession {
  readonly #modules: SuccessionModules

  constructor(modules: SuccessionModules) {
    this.#modules = modules
  }

  /** The replica of a stream part that is here; it mostly is. */
  replicaOf(id: StreamPartId): Replica | undefined {
    const found = this.#modules.replicas.local(id, this.#writers(id), this.#heir)
    if (found !== undefined) this.#modules.count('replicasFound')
    return found
  }

  /** This tracker becomes the leader of a stream part: its replica is fetched if it is not here. Nodes are served meanwhile. */
  prepare(status: Status): void {
    const { streamPartId: id } = status
    const { replicas, count, leads } = this.#modules
    const [writers, heir] = [this.#writers(id), this.#heir]
    if (status.neighbours.length === 0 || replicas.has(id, writers, heir)) return
    replicas
      .remote(id, writers, heir)
      .then((replica) => {
        if (replica === undefined) count('replicasMissing')
        // Otherwise it is here by the time this tracker leads.
        else if (leads(id)) this.#continue(id, replica)
      })
      .catch((error: unknown) => this.#modules.fault({ streamPartId: id }, error))
  }

  get #heir(): Heir {
    const { self, isLinked } = this.#modules
    return { self, isGone: (tracker) => !isLinked(tracker) }
  }

  /**
   * The trackers whose replicas of a stream part are used: those that should have led it before this tracker, or in its
   * place.
   */
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
