import { backoffMs } from '../backoff.ts'
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

export interface WorkerVerificationModules extends Pick<Clock, 'endOfTurn' | 'schedule' | 'monotonicMs'> {
  /** Starts a worker. May throw where there can be none. */
  readonly start: (events: VerificationWorkerEvents) => VerificationWorker
}

export interface WorkerVerificationLimits {
  readonly maxBatchesPerWorker: number
  readonly maxBytesPerWorker: number
  readonly maxBatchesPerRequest: number
  readonly maxAnswerMs: number
  readonly minRestartMs: number
  readonly maxRestartMs: number
}

interface Check {
  readonly batch: SignedBatch
  readonly signerId: NodeId
  readonly onVerdict: OnVerdict
}

interface Member {
  worker: VerificationWorker | undefined
  isReady: boolean
  isLost: boolean
  readonly startedMs: number
  /** How many before it in its place ended soon, one after the other; counts itself once it is lost. */
  failures: number
  /** When it is replaced, if it is lost. */
  restartMs: number
  /** In the order in which they are answered; empty where the answer is waited for no more. */
  requests: (readonly Check[])[]
  answers: number
  stopWatch: Cancel | undefined
  batches: number
  bytes: number
}

/**
 * Spreads batches over workers: those of one turn of the event loop go in one message, or in several where they are many. The workers are
 * started with the first batch, and take some from when they are ready. A worker keeps nothing back: where it ends, the caller gets what it had at
 * once, and the first batch after a pause starts another in its place; where it hangs, or no core runs it, the caller gets what it has had for
 * too long, and it takes no more until it has answered.
 */
export class WorkerVerification implements VerificationPool {
  readonly #size: number
  readonly #limits: WorkerVerificationLimits
  readonly #modules: WorkerVerificationModules
  #members: Member[] | undefined
  /** Those of this turn. */
  #pending: Check[] = []
  #pendingFor: Member | undefined
  #workersLost = 0
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

  get workersLost(): number {
    return this.#workersLost
  }

  verify(batch: SignedBatch, signerId: NodeId, onVerdict: OnVerdict): boolean {
    if (this.#isStopped) return false
    this.#members ??= Array.from({ length: this.#size }, () => this.#start(0))
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
    for (const member of this.#members ?? []) this.#end(member)
  }

  #start(failures: number): Member {
    const member: Member = {
      ...{ worker: undefined, isReady: false, isLost: false, requests: [], answers: 0 },
      ...{ stopWatch: undefined, batches: 0, bytes: 0 },
      ...{ startedMs: this.#modules.monotonicMs(), failures, restartMs: Infinity },
    }
    try {
      member.worker = this.#modules.start({
        onReady: () => (member.isReady = !member.isLost),
        onAnswer: (verdicts) => this.#answered(member, verdicts),
        onLost: () => this.#lose(member),
      })
    } catch {
      // There can be none here, such as in a page whose policy forbids them, or none now.
      this.#lose(member)
    }
    return member
  }

  #leastBusy(): Member | undefined {
    const members = this.#members ?? []
    let least: Member | undefined
    members.forEach((member, i) => {
      if (member.isLost && member.restartMs <= this.#modules.monotonicMs())
        members[i] = this.#start(member.failures)
      if (member.isReady && (least === undefined || member.batches < least.batches)) least = member
    })
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
    if (member?.worker === undefined || member.isLost || checks.length === 0) return
    member.requests.push(checks)
    member.worker.post(encodeVerificationRequest(checks))
    this.#watch(member)
  }

  #answered(member: Member, verdicts: Uint8Array): void {
    const checks = member.requests.shift() ?? []
    member.answers++
    if (member.requests.length === 0) member.isReady = !member.isLost
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
    if (member.isLost) return
    const { minRestartMs, maxRestartMs } = this.#limits
    const nowMs = this.#modules.monotonicMs()
    if (nowMs - member.startedMs > maxRestartMs) member.failures = 0
    member.restartMs = nowMs + backoffMs(++member.failures, minRestartMs, maxRestartMs)
    this.#workersLost++
    this.#end(member)
  }

  #end(member: Member): void {
    member.isLost = true
    member.isReady = false
    member.stopWatch?.()
    member.worker?.stop()
    const unanswered = this.#takeBack(member)
    member.requests = []
    for (const { onVerdict } of unanswered) onVerdict(undefined)
  }
}
