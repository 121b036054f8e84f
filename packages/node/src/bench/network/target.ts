import type { UserConfig } from '@runnel/client'
import type { DescribedNetwork } from '../../cli/network-source.ts'
import type { Doing, PartAddress } from '../core/plan.ts'

/** CPU time of a process of the network under load. */
export interface ProcessCost {
  readonly name: string
  /** Of one core, since it was asked before. Undefined where the system does not say. */
  readonly cpuShare: number | undefined
}

/** The network that is put under load. */
export interface Target {
  readonly source: DescribedNetwork
  /** In whose name users act; undefined: each is a user of its own. */
  readonly user: UserConfig | undefined
  readonly parts: readonly PartAddress[]
  /** For people. */
  readonly description: string
  /** Of nodes that serve gateways. */
  readonly gateway: { readonly httpUrl: string; readonly mqttUrl: string; readonly key: string } | undefined
  /** What its processes on this machine take; empty where they are not known. */
  costs(): readonly ProcessCost[]
  /** Processes that ended by themselves, and how. */
  died(): readonly string[]
  /** Resolves where users may do what a run has them do, and trackers answer. Throws what keeps them out. */
  admit(doing: Doing): Promise<void>
  /** Idempotent. */
  stop(): Promise<void>
}
