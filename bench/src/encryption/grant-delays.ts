import type { RunnelClient } from '@runnel/client'
import type { StreamId } from '@runnel/protocol'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import type { KeyNetwork } from './key-network.ts'

const historyMessages = 20
/** Reading is given up then. A key that is not found is waited for 30 s. */
const maxWaitMs = 120_000

/** Milliseconds since `grant` was called. */
interface GrantTimes {
  /** Until `grant` returned: the keys are stored. */
  readonly granted: number
  /** Until nobody else is there. */
  readonly alone: number
  /** Until the reader has the first message. */
  readonly firstLine: number
  /** Why not all of the history came; undefined when it did. */
  readonly problem: string | undefined
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
    const { problem } = times.at(-1)?.encrypted ?? {}
    if (problem !== undefined) tell(problem)
    if (i % 10 === 0) tell(`grants: ${i} of ${rounds}`)
  }
  // The first opens files and compiles.
  const counted = times.slice(1)
  const isWhole = ({ clear, encrypted }: (typeof times)[number]) =>
    clear.problem === undefined && encrypted.problem === undefined
  const measured = counted.filter(isWhole)
  const figures = (which: 'clear' | 'encrypted') => {
    const of = (share: number) =>
      round(
        percentile(
          measured.map((one) => one[which].firstLine),
          share,
        ),
      )
    const part = (name: 'granted' | 'alone') =>
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
    /** Pairs in which a reader did not get all of the history: a fault, and in none of the other figures. */
    unread: counted.length - measured.length,
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
  const history = await within(maxWaitMs, `the history of ${path}`, historyOf(reader, streamId, sinceMs))
  await reader.close()
  return { granted, alone, ...history }
}

/** When the first message came; tells what went wrong when not all did. */
async function historyOf(
  reader: RunnelClient,
  streamId: StreamId,
  sinceMs: () => number,
): Promise<Pick<GrantTimes, 'firstLine' | 'problem'>> {
  const problems = new Set<string>()
  void collect(reader, problems)
  let firstLine = 0
  const lines: unknown[] = []
  for await (const { content } of reader.resend(streamId, { last: historyMessages }))
    if (lines.push(content) === 1) firstLine = sinceMs()
  const isWhole = lines.length === historyMessages && lines.every((line, n) => line === n)
  const told = `${lines.length} messages of ${streamId} came: ${[...problems].join('; ')}`
  return { firstLine, problem: isWhole ? undefined : told }
}

async function collect(reader: RunnelClient, problems: Set<string>): Promise<void> {
  for await (const status of reader.status())
    if ('error' in status) problems.add(`${status.type} ${String(status.error)}`)
    else if (status.type === 'gap') problems.add('a gap')
}
