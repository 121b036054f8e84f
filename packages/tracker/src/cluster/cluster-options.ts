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
  /** 0 takes any free port. */
  readonly port: number
  /** Multiaddresses that others dial, where they differ from those listened on. */
  readonly announce: readonly string[]
}

export interface ClusterOptions {
  readonly listen: ClusterListen
  /** The tracker's registered key, 32 bytes, which identifies it to other trackers. */
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
  /** Called with channels of nodes that connect by circuits over other trackers. */
  readonly circuitsIn: CircuitListener
  /** Called before each event is handled: notices that the process stalled. */
  checkStall(): void
  /** The URL that nodes dial. */
  url(): string
}
