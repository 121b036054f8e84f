import { setTimeout } from 'node:timers/promises'
import type { PublishOptions, RunnelClient } from '@runnel/client'
import type { StreamId } from '@runnel/protocol'
import { readLines, type Line } from '../../cli/read-lines.ts'
import { nodeError } from '../../errors.ts'
import type { GatewayAccount } from '../access/account.ts'
import { problemOf, type Problem } from '../http/problem.ts'
import { gatewayLimits } from '../limits.ts'
import { contentOf } from './content.ts'
import type { GatewayPublisher, PublishAnswer } from './gateway-publisher.ts'

export interface BulkTarget {
  readonly account: GatewayAccount
  readonly client: RunnelClient
  readonly streamId: StreamId
  readonly options: Pick<PublishOptions, 'partition' | 'partitionKey' | 'key' | 'headers'>
  /** Ends it, with a reason: nothing is published from then on. */
  readonly signal: AbortSignal
}

export interface BulkResult {
  readonly published: number
  /** Of them, those that had no neighbour to go to. */
  readonly alone: number
  readonly last?: PublishAnswer | undefined
  /** The first line that was wrong, from 1, where there is one: nothing from it on was published. */
  readonly line?: number | undefined
  readonly problem?: Problem | undefined
}

/**
 * Publishes lines of JSON in their order, as fast as the network and the rate of the key take them: a client that is faster is read more
 * slowly. The first line that is wrong ends it.
 */
export async function publishBulk(
  lines: AsyncIterable<Uint8Array>,
  { account, client, streamId, options, signal }: BulkTarget,
  { publisher }: { readonly publisher: GatewayPublisher },
): Promise<BulkResult> {
  let [published, alone] = [0, 0]
  let last: PublishAnswer | undefined
  let failure: { readonly line: number; readonly error: unknown } | undefined
  const underWay = new Set<Promise<void>>()
  const fail = (line: number, error: unknown) => {
    if (failure === undefined || line < failure.line) failure = { line, error }
  }
  for await (const line of readLines(lines, account.maxMessageBytes)) {
    try {
      const bytes = bytesOf(line, account)
      // A line without anything takes as much reading as another.
      await takeRate(account, bytes.length, signal)
      if (failure !== undefined) break
      if (isBlank(bytes)) continue
      const content = contentOf(bytes, 'json')
      const one = publisher.publish(client, { streamId, ...content, bytes: bytes.length, options }).then(
        (answer) => {
          published++
          if (answer.neighbours === 0) alone++
          last = answer
        },
        (error: unknown) => fail(line.number, error),
      )
      const ended = one.finally(() => underWay.delete(ended))
      underWay.add(ended)
    } catch (error) {
      fail(line.number, error)
      break
    }
    if (underWay.size >= gatewayLimits.maxBulkUnderWay) await Promise.race(underWay)
    await client.writable()
  }
  await Promise.all(underWay)
  const wrong = failure && { line: failure.line, problem: problemOf(failure.error) }
  return { published, alone, last, ...wrong }
}

/** Throws GATEWAY_TOO_LARGE. */
function bytesOf({ number, bytes }: Line, { maxMessageBytes }: GatewayAccount): Uint8Array {
  if (bytes !== undefined) return bytes
  throw nodeError('GATEWAY_TOO_LARGE', `line ${number} has more than ${maxMessageBytes} bytes`)
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09)
}

/** Throws the reason of the signal. */
async function takeRate(account: GatewayAccount, bytes: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const waitMs = account.takeRate(bytes)
    if (waitMs === 0) return
    await setTimeout(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
