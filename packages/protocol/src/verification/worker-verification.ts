import type { NodeId } from '../ids/node-id.ts'
import type { Cancel, Clock } from '../ports.ts'
import type { SignedBatch } from '../signing/batch-signature.ts'
import { verificationLimits, type OnVerdict, type VerificationPool } from './verification-pool.ts'
import { encodeVerificationRequest } from './verification-request.ts'

/** A thread that answers requests with `answerVerificationRequest`, in their order. */
export interface VerificationWorker {
  /** Takes the bytes: they are gone here. */
  post(request: Uint8Array<ArrayBuffer>): void
  stop(): void
}

export interface VerificationWorkerEvents {
  /** It has loaded what it needs. */
  onReady(): void
  onAnswer(verdicts: Uint8Array): void
  /** It could not be started, or ended. */
  onLost(): void
}

export interface WorkerVerificationModules extends Pick<Clock, 'endOfTurn' | 'schedule'> {
  /** Starts a worker. May throw where there can be none. */
  readonly start: (events: VerificationWorkerEvents) => VerificationWorker
}

export interface WorkerVerificationLimits {
  readonly maxBatchesPerWorker: number
  readonly maxBytesPerWorker: number
  readonly maxBatchesPerRequest: number
  readonly maxAnswerMs: number
}

interface Check {
  readonly batch: SignedBatch
  readonly signerId: NodeId
  readonly onVerdict: OnVerdict
}

interface Member {
  worker: VerificationWorker | undefined
  isReady: boolean
  /** In the order in which they are answered; empty where the answer is waited for no more. */
  requests: (readonly Check[])[]
  answers: number
  stopWatch: Cancel | undefined
  batches: number
  bytes: number
}

/**
 * Spreads batches over workers: those of one turn of the event loop go in one message, or in several where they are many. The workers are
 * started with the first batch, and take some from when they are ready; a worker that ends is not replaced. One that hangs, or that no core runs,
 * keeps nothing back: the caller gets what it has had for too long, and it takes no more until it has answered.
 */
export class WorkerVerification implements VerificationPool {
  readonly #size: number
  readonly #limits: WorkerVerificationLimits
  readonly #modules: WorkerVerificationModules
  #members: Member[] | undefined
  /** Those of this turn. */
  #pending: Check[] = []
  #pendingFor: Member | undefined
  #isStopped = false

  constructor(
    size: number,
    modules: WorkerVerificationModules,
    limits: WorkerVerificationLimits = verificationLimits,
  ) {
    this.#size = size
    this.#modules = modules
    this.#limits = limits
  }

  verify(batch: SignedBatch, signerId: NodeId, onVerdict: OnVerdict): boolean {
    if (this.#isStopped) return false
    this.#members ??= this.#start()
    const member = this.#pendingFor ?? this.#leastBusy()
    if (member === undefined || !this.#hasRoom(member, batch)) return false
    if (this.#pendingFor === undefined) this.#modules.endOfTurn(() => this.#flush())
    this.#pendingFor = member
    this.#pending.push({ batch, signerId, onVerdict })
    member.batches++
    member.bytes += batch.bytes.length
    if (this.#pending.length >= this.#limits.maxBatchesPerRequest) this.#flush()
    return true
  }

  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    for (const member of this.#members ?? []) this.#lose(member)
  }

  #start(): Member[] {
    return Array.from({ length: this.#size }, () => {
      const member: Member = {
        ...{ worker: undefined, isReady: false, requests: [], answers: 0 },
        ...{ stopWatch: undefined, batches: 0, bytes: 0 },
      }
      try {
        member.worker = this.#modules.start({
          onReady: () => (member.isReady = member.worker !== undefined),
          onAnswer: (verdicts) => this.#answered(member, verdicts),
          onLost: () => this.#lose(member),
        })
      } catch {
        // There can be none here, such as in a page whose policy forbids them.
      }
      return member
    })
  }

  #leastBusy(): Member | undefined {
    let least: Member | undefined
    for (const member of this.#members ?? [])
      if (member.isReady && (least === undefined || member.batches < least.batches)) least = member
    return least
  }

  #hasRoom(member: Member, { bytes }: SignedBatch): boolean {
    const { maxBatchesPerWorker, maxBytesPerWorker } = this.#limits
    return member.batches < maxBatchesPerWorker && member.bytes + bytes.length <= maxBytesPerWorker
  }

  #flush(): void {
    const member = this.#pendingFor
    const checks = this.#pending
    this.#pending = []
    this.#pendingFor = undefined
    if (member?.worker === undefined || checks.length === 0) return
    member.requests.push(checks)
    member.worker.post(encodeVerificationRequest(checks))
    this.#watch(member)
  }

  #answered(member: Member, verdicts: Uint8Array): void {
    const checks = member.requests.shift() ?? []
    member.answers++
    if (member.requests.length === 0) member.isReady = member.worker !== undefined
    member.batches -= checks.length
    for (const { batch } of checks) member.bytes -= batch.bytes.length
    checks.forEach(({ onVerdict }, i) => onVerdict(verdicts[i] === 1))
  }

  /** Looks whether the worker answers, for as long as it has something to do. */
  #watch(member: Member): void {
    if (member.stopWatch !== undefined || member.requests.length === 0) return
    const { answers } = member
    member.stopWatch = this.#modules.schedule(this.#limits.maxAnswerMs, () => {
      // Answers that came while this thread did not run are told after its timers.
      this.#modules.endOfTurn(() => {
        member.stopWatch = undefined
        if (member.answers === answers) this.#giveBack(member)
        else this.#watch(member)
      })
    })
  }

  #giveBack(member: Member): void {
    member.isReady = false
    const unanswered = this.#takeBack(member)
    member.requests = member.requests.map(() => [])
    for (const { onVerdict } of unanswered) onVerdict(undefined)
  }

  /** What it has, and what it would get at the end of this turn. */
  #takeBack(member: Member): readonly Check[] {
    const unanswered = member.requests.flat()
    if (this.#pendingFor === member) {
      unanswered.push(...this.#pending)
      this.#pending = []
      this.#pendingFor = undefined
    }
    member.batches = 0
    member.bytes = 0
    return unanswered
  }

  #lose(member: Member): void {
    member.isReady = false
    member.stopWatch?.()
    member.worker?.stop()
    member.worker = undefined
    const unanswered = this.#takeBack(member)
    member.requests = []
    for (const { onVerdict } of unanswered) onVerdict(undefined)
  }
}
