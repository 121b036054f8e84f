import type { PublisherPolicy } from '@runnel/network'
import { verifyBatch, type Clock, type Crypto, type MessageBatch } from '@runnel/protocol'
import { maxAheadMs } from '../publish/message-clock.ts'

/**
 * `forged`: no honest node sends it. `denied`: its publisher had no permission at its time, or it belongs to an earlier stream
 * with that id. `doubtful`: its publisher had permission then but lost it, and could have signed it since; accepted when enough
 * storage nodes have it.
 */
export type Verdict = 'good' | 'forged' | 'denied' | 'doubtful'

/** Checking goes on for so long at once; then others have their turn, and live messages do not wait for history. */
const maxTurnMs = 2

/**
 * Checks batches of storage nodes as the node checks live ones. A publisher with permission today is assumed to have had it at
 * the time of the message. A permission that has ended covers messages published before its end, as far as storage nodes confirm
 * their time.
 */
export class BatchCheck {
  readonly #modules: { crypto: Crypto; clock: Clock; policy: PublisherPolicy }
  #turnBeganMs = 0

  constructor(modules: { crypto: Crypto; clock: Clock; policy: PublisherPolicy }) {
    this.#modules = modules
  }

  /** Rejects with what the registry throws. */
  async check(batch: MessageBatch): Promise<Verdict> {
    const { clock } = this.#modules
    if (clock.monotonicMs() - this.#turnBeganMs > maxTurnMs) {
      await new Promise<void>((resolve) => clock.endOfTurn(resolve))
      this.#turnBeganMs = clock.monotonicMs()
    }
    return this.#verdictOf(batch)
  }

  async #verdictOf(batch: MessageBatch): Promise<Verdict> {
    const { crypto, clock, policy } = this.#modules
    const { streamId, publisherId } = batch.chain
    const newestMs = batch.messages.at(-1)?.timestamp ?? 0
    if (newestMs > clock.now() + maxAheadMs || !verifyBatch(batch, crypto)) return 'forged'
    const check = () => policy.check(streamId, publisherId, newestMs, batch.messages[0]?.timestamp)
    if (check() === 'unknown') await policy.resolve(streamId, publisherId)
    if (check() !== 'allowed') return 'denied'
    return policy.check(streamId, publisherId, clock.now()) === 'allowed' ? 'good' : 'doubtful'
  }
}
