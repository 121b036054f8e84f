import { RunnelError } from '@runnel/protocol'
import { nodeError, nodeErrors } from '../../errors.ts'
import type { GatewayAccount } from './account.ts'

/** What may be tried again after a while: more than the rate of a key, or wrong keys too often. */
export class WaitError extends RunnelError<'GATEWAY_RATE' | 'GATEWAY_KEY_WRONG'> {
  readonly waitMs: number

  constructor(code: 'GATEWAY_RATE' | 'GATEWAY_KEY_WRONG', waitMs: number) {
    const { summary, remedy } = nodeErrors[code]
    super(code, `${summary}: wait ${waitMs} ms`, remedy)
    this.waitMs = waitMs
  }
}

/**
 * Takes what a client asks for from the rate of its key: one message for each request, or as many as it publishes, and their bytes. What
 * is refused takes nothing. Throws WaitError, and GATEWAY_BATCH_TOO_LARGE for what never passes at once.
 */
export function takeRate(account: GatewayAccount, bytes = 0, messages = 1): void {
  const { burst } = account
  if (messages > burst.messages)
    throw nodeError(
      'GATEWAY_BATCH_TOO_LARGE',
      `${messages} messages, at most ${burst.messages} (maxMessagesPerS)`,
    )
  if (bytes > burst.bytes)
    throw nodeError('GATEWAY_BATCH_TOO_LARGE', `${bytes} bytes, at most ${burst.bytes} (maxBytesPerS)`)
  const waitMs = account.takeRate(bytes, messages)
  if (waitMs > 0) throw new WaitError('GATEWAY_RATE', waitMs)
}
