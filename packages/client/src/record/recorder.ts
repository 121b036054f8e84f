import type { Delivery, NetworkNode } from '@runnel/network'
import {
  Alarm,
  encodeDelegation,
  toStreamPartId,
  type Clock,
  type DelegationRef,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { onAbort, whileOpen } from '../deadline.ts'
import { Denial } from '../denial.ts'
import { asError, clientError } from '../errors.ts'
import { requirePermission, type PermissionModules } from '../permission.ts'
import type { Publisher } from '../publish/publisher.ts'
import { checkPartition } from '../publish/partition.ts'
import { choosePartitions } from '../resend/selection.ts'
import type { StatusHub } from '../status.ts'
import type { StreamParts } from '../stream-parts.ts'
import { recordLimits } from './limits.ts'
import { encodeRecorded, recordingHeaders } from './recording-content.ts'
import { requireKept } from './require-kept.ts'

/** What to record, and for how long. */
export interface RecordOptions {
  /** Partitions of the recorded stream. Default: all that it has now. */
  readonly partitions?: readonly number[] | undefined
  /** Partition of the stream that gets the recording. Default: one of them, always the same. */
  readonly toPartition?: number | undefined
  /** Ends the recording, as `stop` does. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called when the recording has ended because the user lost the permission to subscribe to the recorded stream (NO_SUBSCRIBE_PERMISSION) or that
   * was deleted (STREAM_NOT_FOUND), and it was not back after 20 seconds.
   */
  readonly onEnded?: ((error: Error) => void) | undefined
}

/** A recording in progress. */
export interface Recording extends AsyncDisposable {
  readonly from: StreamId
  readonly to: StreamId
  /** How many urgent messages are in the recording. */
  readonly recorded: number
  /** How many could not be published there; a status 'callback-failed' says why. */
  readonly failed: number
  /** Stops recording. Resolves when everything that came before is published or has failed. Idempotent. */
  stop(): Promise<void>
}

/** What goes where. */
interface Recorded {
  readonly from: StreamId
  readonly to: StreamId
  readonly toPartition: number | undefined
  readonly streamPartIds: readonly StreamPartId[]
}

export interface RecorderModules extends PermissionModules {
  readonly node: NetworkNode
  readonly parts: StreamParts
  readonly publisher: Pick<Publisher, 'publish'>
  /** Aborted when the client closes, while what is published still goes out. */
  readonly closing: AbortSignal
  readonly clock: Clock
  readonly status: StatusHub
}

/** Records the urgent messages of a stream. Throws what `requirePermission` throws, `requireKept` throws, PARTITION_OUT_OF_RANGE, INVALID_ARGUMENT, CLIENT_CLOSED and ABORTED. */
export async function record(
  from: StreamId,
  to: StreamId,
  { partitions, toPartition, signal, onEnded }: RecordOptions,
  modules: RecorderModules,
): Promise<Recording> {
  if (from === to) throw clientError('INVALID_ARGUMENT', 'a stream is not recorded into itself')
  const stream = await requirePermission('subscribe', from, modules)
  const target = await requirePermission('publish', to, modules)
  if (toPartition !== undefined) checkPartition(toPartition, target)
  const chosen = choosePartitions(stream, partitions)
  await requireKept(stream, target, modules)
  const ended = whileOpen(modules.closing, signal)
  const recorder = new Recorder(
    { from, to, toPartition, streamPartIds: chosen.map((it) => toStreamPartId(from, it)) },
    modules,
  )
  const denied = new AbortController()
  const denial = new Denial({
    ...{ clock: modules.clock, signal: denied.signal },
    check: () => requirePermission('subscribe', from, modules),
    onFinal: (error) => {
      void recorder.stop()
      try {
        onEnded?.(error)
      } catch (thrown) {
        modules.status.emit({ type: 'callback-failed', streamId: from, error: thrown })
      }
    },
  })
  const onDenied = () => denial.suspect()
  const leaves = chosen.map((partition) =>
    modules.parts.join(stream, partition, { fillGaps: false, onDenied }),
  )
  recorder.start([...leaves, onAbort(ended, () => void recorder.stop()), () => denied.abort()])
  return recorder
}

/**
 * Publishes the batches of urgent messages, as they were signed, as content of another stream, some at a time. That one is an ordinary stream, so
 * storage nodes keep it, and it has the times at which the recorder had them.
 */
class Recorder implements Recording {
  readonly from: StreamId
  readonly to: StreamId
  readonly #toPartition: number | undefined
  readonly #streamPartIds: ReadonlySet<StreamPartId>
  readonly #modules: RecorderModules
  readonly #alarm: Alarm
  #batches: Uint8Array[] = []
  #bytes = 0
  /** Those that a batch in `#batches` is signed under. */
  readonly #delegations = new Map<DelegationRef, Uint8Array>()
  readonly #publishing = new Set<Promise<unknown>>()
  #ends: readonly (() => void)[] = []
  #counts = { recorded: 0, failed: 0 }

  constructor({ from, to, toPartition, streamPartIds }: Recorded, modules: RecorderModules) {
    this.from = from
    this.to = to
    this.#toPartition = toPartition
    this.#streamPartIds = new Set(streamPartIds)
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => this.#publish() }, modules)
  }

  start(leaves: readonly (() => void)[]): void {
    this.#ends = [this.#modules.node.on('message', (delivery) => this.#take(delivery)), ...leaves]
  }

  get recorded(): number {
    return this.#counts.recorded
  }

  get failed(): number {
    return this.#counts.failed
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end()
    this.#ends = []
    this.#alarm.set(Infinity)
    this.#publish()
    await Promise.all(this.#publishing)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #take({ streamPartId, urgentBatch }: Delivery): void {
    if (urgentBatch === undefined || !this.#streamPartIds.has(streamPartId)) return
    const { node, clock } = this.#modules
    const { delegationRef: ref, bytes } = urgentBatch
    const delegation = ref === undefined ? undefined : node.delegations.get(ref)
    if (ref !== undefined && delegation !== undefined)
      this.#delegations.set(ref, encodeDelegation(delegation))
    this.#batches.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= recordLimits.packBytes) this.#publish()
    else if (this.#batches.length === 1) this.#alarm.set(clock.monotonicMs() + recordLimits.packMs)
  }

  #publish(): void {
    this.#alarm.set(Infinity)
    const batches = this.#batches
    if (batches.length === 0) return
    const content = encodeRecorded({ delegations: [...this.#delegations.values()], batches })
    this.#batches = []
    this.#bytes = 0
    this.#delegations.clear()
    const { publisher, status } = this.#modules
    const publishing = publisher
      .publish(this.to, content, { headers: recordingHeaders, partition: this.#toPartition })
      .then(() => void (this.#counts.recorded += batches.length))
      .catch((error: unknown) => {
        this.#counts.failed += batches.length
        status.emit({ type: 'callback-failed', streamId: this.to, error: asError(error) })
      })
      .finally(() => this.#publishing.delete(publishing))
    this.#publishing.add(publishing)
  }
}
