import type { CardKeeperStatus } from './cards/card-keeper.ts'
import type { QuotaStatus } from './disk-quota.ts'
import type { IngestStatus } from './ingest.ts'
import type { RepairStatus } from './repair/repair.ts'
import type { ResendServerStatus } from './server/resend-server.ts'

/** How a storage node is doing. Plain data. */
export interface StorageStatus {
  /** File or cluster. */
  readonly location: string
  /** Whether the store could be opened, and the last batches be stored. */
  readonly isHealthy: boolean
  /** Stream parts kept. */
  readonly streamParts: number
  /** Assigned stream parts that are not kept because there are too many. */
  readonly ignoredStreamParts: number
  /** Assigned streams that are not kept because their owners are not wanted. */
  readonly unwelcomeStreams: number
  /** Batches that contradicted a stored one of the same place. */
  readonly contradictions: number
  readonly quota: QuotaStatus
  readonly ingest: IngestStatus
  readonly requests: ResendServerStatus
  readonly repair: RepairStatus
  readonly cards: CardKeeperStatus & { readonly refusedRequests: number }
  readonly prunedBatches: number
}
