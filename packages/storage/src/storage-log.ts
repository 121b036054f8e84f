import { isRunnelError, type Clock, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { IngestStatus } from './ingest.ts'
import type { Logger } from './ports.ts'

/** How often a repeated refusal is logged. */
const sayAgainMs = 60_000

/** What a store is used for: each can fail while the others work, a small mark may fit on a full disk. */
export type StoreWork = 'opening' | 'appending' | 'marking' | 'pruning'

/** Logs what goes wrong in a storage node and what to do: a warning the first time, and again when the problem changes. */
export class StorageLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #location: string
  readonly #firstStoreFailure = Promise.withResolvers<void>()
  /** The code of what fails and has not worked since. */
  readonly #storeFailures = new Map<StoreWork, string>()
  /** By code, when it was said last, and how often it came up since. */
  readonly #requestFailures = new Map<string, { readonly saidMs: number; unsaid: number }>()
  #registryFailure: string | undefined
  readonly #repairFailures = new Map<string, string>()

  constructor(options: { readonly location: string }, modules: { logger: Logger; clock: Clock }) {
    this.#location = options.location
    this.#logger = modules.logger
    this.#clock = modules.clock
  }

  /** Resolves when the store fails for the first time. */
  get firstStoreFailure(): Promise<void> {
    return this.#firstStoreFailure.promise
  }

  get isStoreFailing(): boolean {
    return this.#storeFailures.size > 0
  }

  storeFailed(work: StoreWork, error: unknown): void {
    const { code, text } = describe(error)
    const level = [...this.#storeFailures.values()].includes(code) ? 'debug' : 'error'
    this.#storeFailures.set(work, code)
    this.#firstStoreFailure.resolve()
    this.#logger[level](
      { code, work, store: this.#location },
      `${text} Messages wait in memory while the store is tried again; live delivery continues.`,
    )
  }

  /** The store works again when nothing fails any more. */
  storeWorked(work: StoreWork): void {
    if (!this.#storeFailures.delete(work) || this.isStoreFailing) return
    this.#logger.info({ store: this.#location }, 'the store works again')
  }

  slow({ queuedBatches, queuedBytes, lagMs }: IngestStatus): void {
    this.#logger.warn(
      { store: this.#location, queuedBatches, queuedBytes, lagMs },
      'the store cannot keep up: messages are dropped here and repaired from other storage nodes later; live delivery continues',
    )
  }

  /** An error in this build, or in what it stands on. */
  fault(streamPart: StreamPartId, error: unknown): void {
    this.#logger.error(
      { streamPart, err: error },
      'a fault in storing a stream part: batches are dropped here and repaired from other storage nodes later; please report it',
    )
  }

  clockAhead(leadMs: number): void {
    this.#logger.warn(
      { leadMs: Math.round(leadMs) },
      'the clock went ahead by more time than has passed, or this node was off: messages are not deleted for their age before it has said so for a day. Check the clock',
    )
  }

  registryFailed(error: unknown): void {
    const { code, text } = describe(error)
    const level = this.#registryFailure === code ? 'debug' : 'warn'
    this.#registryFailure = code
    this.#logger[level]({ code }, `${text} The assignments are read again later; the known ones stay in use.`)
  }

  tooManyParts(ignored: number, max: number, owners: readonly string[]): void {
    this.#logger.warn(
      { ignored, max, owners },
      'more stream parts are assigned than storage.maxStreamParts allows: some are not stored, of owners that have used up their share; storage.owners says whose streams to store',
    )
  }

  unwelcome(streams: number): void {
    this.#logger.warn(
      { streams },
      'streams of owners that storage.owners excludes are assigned: they are not stored',
    )
  }

  /** There are many requesters: the same line is logged once a minute, with a count. */
  requestFailed(error: unknown): void {
    const { code, text } = describe(error)
    const nowMs = this.#clock.monotonicMs()
    const known = this.#requestFailures.get(code)
    if (known !== undefined && nowMs - known.saidMs < sayAgainMs) {
      known.unsaid++
      return
    }
    this.#requestFailures.set(code, { saidMs: nowMs, unsaid: 0 })
    this.#logger.warn({ code, times: (known?.unsaid ?? 0) + 1, store: this.#location }, text)
  }

  repairFailed(streamPartId: StreamPartId, from: NodeId | undefined, error: unknown): void {
    const { code, text } = describe(error)
    const key = from ?? ''
    const level = this.#repairFailures.get(key) === code ? 'debug' : 'warn'
    this.#repairFailures.set(key, code)
    this.#logger[level]({ code, streamPart: streamPartId, from }, `repair: ${text} It is tried again later.`)
  }
}

function describe(error: unknown): { code: string; text: string } {
  if (isRunnelError(error)) return { code: error.code, text: `${error.message}. ${error.remedy}` }
  return { code: 'INTERNAL', text: error instanceof Error ? `${error.message}.` : `${String(error)}.` }
}
