import type { NodeId, Signal } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { Counters } from './counters.ts'
import { sharedParts, type NodeRecord } from './node-record.ts'
import type { Outbox } from './outbox.ts'
import type { StorageDirectory } from './storage-directory.ts'
import { ExpiringPairs } from './timing/expiring-pairs.ts'

export interface SignallingModules {
  readonly nodes: ReadonlyMap<NodeId, NodeRecord>
  readonly storage: Pick<StorageDirectory, 'wereIntroduced'>
  readonly outbox: Outbox
  readonly counters: Counters
}

/** Which signals are relayed. */
export class Signalling {
  /** Pairs that were neighbours a while ago. */
  readonly #permits: ExpiringPairs<NodeId>
  readonly #modules: SignallingModules

  constructor(
    limits: Pick<TrackerLimits, 'signalPermitMs' | 'maxSignalPermits'>,
    modules: SignallingModules,
  ) {
    const { signalPermitMs: lifetimeMs, maxSignalPermits: maxPairs } = limits
    this.#permits = new ExpiringPairs({ lifetimeMs, maxPairs })
    this.#modules = modules
  }

  /** Lets signals pass for a while, although neither is told to connect to the other any more. */
  permit(a: NodeId, b: NodeId, nowMs: number): void {
    if (this.#permits.add(a, b, nowMs)) this.#modules.counters.count('signalPermitsDropped')
  }

  relay(sender: NodeRecord, signal: Signal, nowMs: number): void {
    const { nodes, outbox, counters } = this.#modules
    const target = nodes.get(signal.peerId)
    if (!target?.connected) {
      counters.count('signalsToUnknown')
      return outbox.error(sender, 'SIGNAL_TARGET_UNKNOWN', signal.peerId)
    }
    if (!this.allows(sender, target, nowMs)) {
      counters.count('signalsToStrangers')
      return outbox.error(sender, 'SIGNAL_NOT_ALLOWED', signal.peerId)
    }
    counters.count('signalsRelayed')
    outbox.send(target.nodeId, { ...signal, peerId: sender.nodeId })
  }

  /** Whether one of the two was told of the other: to connect to it, or, a while ago at most, as a storage node. */
  allows(a: NodeRecord, b: NodeRecord, nowMs: number): boolean {
    if (this.#permits.has(a.nodeId, b.nodeId, nowMs)) return true
    if (this.#modules.storage.wereIntroduced(a.nodeId, b.nodeId, nowMs)) return true
    for (const part of sharedParts(a, b)) if (part.isToldEdge(a.nodeId, b.nodeId)) return true
    return false
  }

  /** Whether the two may have a link: one was told of the other, also a while ago, or they are in a stream part in which they may have one. */
  mayBeLinked(a: NodeRecord, b: NodeRecord, nowMs: number): boolean {
    if (this.allows(a, b, nowMs)) return true
    for (const part of sharedParts(a, b)) if (part.mayBeLinked(a.nodeId, b.nodeId)) return true
    return false
  }
}
