import type { Clock, Crypto, Identity, NodeAdmission, Random } from '@runnel/protocol'
import type { CircuitListener } from '@runnel/transport'
import type { TrackerCore } from '../core/tracker-core.ts'
import type { TrackerLogger } from '../logger.ts'
import type { TrackerRuntime } from '../runtime/tracker-runtime.ts'
import type { ClusterLimits } from './limits.ts'
import type { TrackerRegistryView } from './ports.ts'

/** Where a tracker listens for other trackers. */
interface ClusterListen {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Multiaddresses that others dial, where they are not those listened on. */
  readonly announce: readonly string[]
}

export interface ClusterOptions {
  readonly listen: ClusterListen
  /** The tracker's registered key, 32 bytes: other trackers know it by that. */
  readonly privateKey: Uint8Array
  readonly limits: ClusterLimits
}

export interface ClusterModules {
  readonly identity: Identity
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
  readonly logger: TrackerLogger
  readonly registry: TrackerRegistryView
  /** Which nodes may take part, in a private network. */
  readonly admission?: NodeAdmission | undefined
  readonly core: TrackerCore
  readonly runtime: TrackerRuntime
  /** Nodes that come over other trackers. */
  readonly circuitsIn: CircuitListener
  /** Called before anything that has happened is dealt with: notices that the process stood still. */
  checkStall(): void
  /** What nodes dial. */
  url(): string
}
