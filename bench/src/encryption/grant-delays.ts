import type { RunnelClient } from '@runnel/client'
import type { StreamId } from '@runnel/protocol'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import type { KeyNetwork } from './key-network.ts'

const historyMessages = 20
/** It is a fault when a reader has no history then. */
const maxWaitMs = 60_000

/** Milliseconds since `grant` was called. */
interface GrantTimes {
  /** Until `grant` returned: the keys are stored. */
  readonly granted: number
  /** Until nobody else is there. */
  readonly alone: number
  /** Until the reader has the first message. */
  readonly firstLine: number
}

/**
 * An owner publishes, grants a reader leave to read, and goes; then the reader, who has a card and runs already, reads the history from
 * storage nodes. In turns with the same in the clear.
 */
export async function grantDelays(network: KeyNetwork, rounds: number, tell: (text: string) => void) {
  const account = network.newAccount()
  const times: { clear: GrantTimes; encrypted: GrantTimes }[] = []
  for (let i = 0; i <= rounds; i++) {
    times.push({
      clear: await grantOnce(network, account, `clear${i}`, false),
      encrypted: await grantOnce(network, account, `encrypted${i}`, true),
    })
    if (i % 10 === 0) tell(`grants: ${i} of ${rounds}`)
  }
  // The first opens files and compiles.
  const measured = times.slice(1)
  const figures = (which: 'clear' | 'encrypted') => {
    const of = (share: number) =>
      round(
        percentile(
          measured.map((one) => one[which].firstLine),
          share,
        ),
      )
    const part = (name: keyof GrantTimes) =>
      round(
        percentile(
          measured.map((one) => one[which][name]),
          0.5,
        ),
      )
    return {
      firstLineMs: { p50: of(0.5), p95: of(0.95), max: of(1) },
      p50Ms: { granted: part('granted'), alone: part('alone') },
    }
  }
  const [clear, encrypted] = [figures('clear'), figures('encrypted')]
  return {
    ratio: round(encrypted.firstLineMs.p50 / clear.firstLineMs.p50),
    addedMs: round(encrypted.firstLineMs.p95 - clear.firstLineMs.p95),
    ...encrypted,
    clear,
  }
}

async function grantOnce(
  network: KeyNetwork,
  account: string,
  path: string,
  isEncrypted: boolean,
): Promise<GrantTimes> {
  const owner = await network.client(account)
  const reader = await network.client(network.newUser())
  const streamId = await network.newStream(owner, path, isEncrypted)
  await reader.ensureCard()
  const published = []
  for (let n = 0; n < historyMessages; n++) published.push(await owner.publish(streamId, n))
  await owner.waitForStorage(published, { timeoutMs: 60_000 })

  const startMs = performance.now()
  const sinceMs = () => performance.now() - startMs
  await owner.grant(streamId, { user: reader.userId, permissions: ['subscribe'] })
  const granted = sinceMs()
  await owner.close()
  const alone = sinceMs()
  const history = firstLineOf(reader, streamId, sinceMs)
  const firstLine = await within(maxWaitMs, `the history of ${path}`, history)
  await reader.close()
  return { granted, alone, firstLine }
}

/** All of the history has to come at the first attempt: what went wrong is told when it does not. */
async function firstLineOf(reader: RunnelClient, streamId: StreamId, sinceMs: () => number): Promise<number> {
  const problems: string[] = []
  void collect(reader, problems)
  let firstMs: number | undefined
  let lines = 0
  for await (const { content } of reader.resend(streamId, { last: historyMessages })) {
    if (content !== lines++) throw new Error(`message ${lines} was ${String(content)}`)
    firstMs ??= sinceMs()
  }
  if (firstMs === undefined || lines !== historyMessages)
    throw new Error(`${lines} messages of ${streamId} came: ${problems.join('; ')}`)
  return firstMs
}

async function collect(reader: RunnelClient, problems: string[]): Promise<void> {
  for await (const status of reader.status())
    if ('error' in status) problems.push(`${status.type} ${String(status.error)}`)
    else if (status.type === 'gap') problems.push('a gap')
}
