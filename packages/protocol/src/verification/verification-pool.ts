import type { NodeId } from '../ids/node-id.ts'
import type { SignedBatch } from '../signing/batch-signature.ts'

/** Called once with what `verifyBatch` says; with undefined where nobody could say: the caller checks the batch itself. */
export type OnVerdict = (isSigned: boolean | undefined) => void

/**
 * Checks signatures of batches, on other cores where there are any. Verdicts may come in another order than batches went in; whoever
 * needs an order keeps it.
 */
export interface VerificationPool {
  /** Workers that ended by themselves or could not be started, so far; each is replaced after a pause, if it is needed. */
  readonly workersLost: number
  /** False: it takes no more at present, or has nobody to check; nothing is called then, and the caller checks the batch itself. */
  verify(batch: SignedBatch, signerId: NodeId, onVerdict: OnVerdict): boolean
  /** What was taken and not answered gets undefined; nothing is taken any more. Idempotent. */
  stop(): void
}

/** What a pool of workers holds at most. */
export const verificationLimits = {
  /** Batches waiting at one worker: a quarter of a second of its work. The caller checks any further ones. */
  maxBatchesPerWorker: 4_096,
  /** The same in a page, where checking a batch takes a millisecond or two. */
  maxBatchesPerPageWorker: 128,
  /** Bytes of the batches waiting at one worker. */
  maxBytesPerWorker: 2 * 1024 * 1024,
  /** Batches in one request: when a turn brings more, the first are checked while the rest still arrive. */
  maxBatchesPerRequest: 32,
  /** Milliseconds without an answer after which the caller checks what a worker has. */
  maxAnswerMs: 1_000,
  /** Milliseconds until a worker that ended by itself is replaced; doubled for each that ends soon after another in its place. */
  minRestartMs: 1_000,
  /** The longest such pause in milliseconds; a worker that ran for longer counts as the first that ends. */
  maxRestartMs: 300_000,
  /** Workers that can be requested. */
  maxWorkers: 64,
  /** Workers by default; the thread that owns them takes a core, too. */
  maxDefaultWorkers: 4,
} as const

/** As many workers as cores that this thread leaves free, and not too many. */
export function defaultWorkers(cores: number): number {
  return Math.max(0, Math.min(cores - 1, verificationLimits.maxDefaultWorkers))
}
