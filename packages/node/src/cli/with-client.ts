import { createClient, type RunnelClient, type TransportsConfig } from '@runnel/client'
import { isRunnelError } from '@runnel/protocol'
import { resolveReadingKey } from '../keys/reading-keys.ts'
import { nodeError } from '../errors.ts'
import { requireUserKey, resolveUser } from '../keys/resolve-user.ts'
import { tellOfClock, type ToldClock } from '../clock/tell-of-clock.ts'
import type { MemberArguments } from './common-options.ts'
import { readNetwork } from './network-source.ts'
import { tellOfEncryption } from './tell-of-encryption.ts'
import { watchTrackers, type TrackerWatch } from './tracker-watch.ts'

export interface WithClientOptions {
  /** Refuse to start without the key of a user, rather than make one up or act under a delegation. */
  readonly needsKey?: boolean
  /** Refuse to start without a user, rather than make one up: what it does is kept under its name. */
  readonly needsUser?: boolean
}

type Work<T> = (
  client: RunnelClient,
  trackers: TrackerWatch,
  clock: Pick<ToldClock, 'requireAccepted'>,
) => Promise<T>

/**
 * Runs a command with a client that lives as long as it: one that reaches out, but listens nowhere. It publishes and
 * subscribes in the name of a user, through a node with a key of its own: commands of one user can run side by side.
 */
export async function withClient<T>(
  { network, key, as, via, 'reading-key': readingKeyFile }: Partial<MemberArguments>,
  { needsKey = false, needsUser = false }: WithClientOptions,
  work: Work<T>,
): Promise<T> {
  checkVia(via)
  const sources = { as, key, env: process.env }
  const user = needsKey ? requireUserKey(sources) : resolveUser(sources)
  if (needsUser && user === undefined) throw nodeError('KEY_REQUIRED')
  const source = readNetwork(network)
  const clock = tellOfClock(source)
  try {
    const client = await createClient({
      ...user,
      // Whoever has the key of the user has its reading keys.
      readingKey: needsKey ? undefined : resolveReadingKey(readingKeyFile, process.env),
      network: source,
      transports: via === undefined ? { websocket: {}, webrtc: {} } : transportsTo(via),
      via,
    })
    return await workWith(client, clock, work).catch((error: unknown) => {
      throw user === undefined ? withoutKey(error, client) : error
    })
  } catch (error) {
    // A wrong clock has errors that do not name it.
    await clock.told
    throw error
  } finally {
    clock.stop()
  }
}

/** Who gives no key has no streams: a path alone names one of a key that was forgotten. */
function withoutKey(error: unknown, { userId }: RunnelClient): unknown {
  if (!isRunnelError(error, 'STREAM_NOT_FOUND') || !error.message.includes(`${userId}/`)) return error
  return nodeError('KEY_REQUIRED', 'a path alone names a stream of your own', { cause: error })
}

/** Hosts are found where nodes listen, which is not where their HTTP is. */
function checkVia(via: readonly string[] | undefined): void {
  for (const url of via ?? []) {
    const [, scheme = ''] = /^([a-z]+):\/\/[^/]/i.exec(url) ?? []
    if (/^(ws|wss|tcp)$/.test(scheme)) continue
    const right = { http: 'ws', https: 'wss' }[scheme.toLowerCase()]
    const hint = right === undefined ? 'ws://, wss:// or tcp://' : `${right}${url.slice(scheme.length)}`
    throw nodeError('USAGE', `--via ${url}: a node is reached at ${hint}`)
  }
}

const transportsTo = (via: readonly string[]): TransportsConfig =>
  via.some((url) => url.startsWith('tcp:')) ? { tcp: {} } : {}

async function workWith<T>(client: RunnelClient, clock: ToldClock, work: Work<T>): Promise<T> {
  const trackers = watchTrackers(client)
  const told = tellOfEncryption(client)
  try {
    return await work(client, trackers, clock)
  } finally {
    trackers.stop()
    await client.close()
    await told
  }
}
