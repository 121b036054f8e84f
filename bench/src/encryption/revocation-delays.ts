import type { RunnelClient } from '@runnel/client'
import { EncryptionType, type StreamId, type StreamMessage } from '@runnel/protocol'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import type { KeyNetwork } from './key-network.ts'

export interface RevocationOptions {
  /** Readers that lose their permission, one after the other. */
  readonly rounds: number
  /** Messages a second, all the time. */
  readonly ratePerS: number
}

/** It is a fault when a revoked reader still reads then. */
const maxBlindMs = 60_000

/** Milliseconds from the transaction of a revocation. */
interface RevocationTimes {
  /** Until the publisher's first message in an epoch of which the reader has no key: nobody can show it a later one. */
  readonly blind: number
  /** Until the last message that came to the reader and that it could read; 0 when that was before. */
  readonly lastRead: number
}

/**
 * One user publishes without a pause, another reads all the time, and the owner takes the permission to read from a third, with three
 * processes of their own views of the chain: each asks it every 2 s. In turns with the same in the clear, where neighbours let go of the
 * reader and nothing else happens.
 */
export async function revocationDelays(
  network: KeyNetwork,
  { rounds, ratePerS }: RevocationOptions,
  tell: (text: string) => void,
) {
  const owner = await network.client(network.newAccount())
  const streams = {
    encrypted: await Load.start(network, owner, 'load/encrypted', ratePerS),
    clear: await Load.start(network, owner, 'load/clear', ratePerS),
  }
  const times: { clear: RevocationTimes; encrypted: RevocationTimes }[] = []
  for (let i = 1; i <= rounds; i++) {
    times.push({
      encrypted: await revokedOnce(network, owner, streams.encrypted),
      clear: await revokedOnce(network, owner, streams.clear),
    })
    if (i % 10 === 0) tell(`revocations: ${i} of ${rounds}`)
  }
  const figures = (values: readonly number[]) => {
    const of = (share: number) => round(percentile(values, share))
    return { p50: of(0.5), p95: of(0.95), max: of(1) }
  }
  const blindMs = figures(times.map(({ encrypted }) => encrypted.blind))
  const clear = { lastReadMs: figures(times.map((one) => one.clear.lastRead)) }
  const report = {
    ratio: round(blindMs.p50 / clear.lastReadMs.p50),
    blindMs,
    lastReadMs: figures(times.map(({ encrypted }) => encrypted.lastRead)),
    unreadByOthers: streams.encrypted.unread,
    clear,
  }
  await Promise.all(Object.values(streams).map((load) => load.stop()))
  await owner.close()
  return report
}

/** A stream with a publisher that never rests and a reader that stays. */
class Load {
  readonly streamId: StreamId
  readonly isEncrypted: boolean
  readonly #publisher: RunnelClient
  readonly #reader: RunnelClient
  #timer: NodeJS.Timeout | undefined
  /** Messages that the reader who stays could not read. */
  unread = 0

  private constructor(
    streamId: StreamId,
    isEncrypted: boolean,
    clients: { readonly publisher: RunnelClient; readonly reader: RunnelClient },
  ) {
    this.streamId = streamId
    this.isEncrypted = isEncrypted
    this.#publisher = clients.publisher
    this.#reader = clients.reader
  }

  static async start(
    network: KeyNetwork,
    owner: RunnelClient,
    path: 'load/clear' | 'load/encrypted',
    ratePerS: number,
  ): Promise<Load> {
    const isEncrypted = path === 'load/encrypted'
    const streamId = await network.newStream(owner, path, isEncrypted)
    const publisher = await network.client(network.newUser())
    const reader = await network.client(network.newUser())
    await reader.ensureCard()
    await owner.grant(streamId, { user: publisher.userId, permissions: ['publish', 'subscribe'] })
    await owner.grant(streamId, { user: reader.userId, permissions: ['subscribe'] })
    const load = new Load(streamId, isEncrypted, { publisher, reader })
    await load.#run(ratePerS)
    return load
  }

  async #run(ratePerS: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    await this.#reader.subscribe(this.streamId, {}, ({ content }) => {
      if (typeof content === 'number') resolve()
    })
    let n = 0
    const publish = () => void this.#publisher.publish(this.streamId, n++).catch(() => this.unread++)
    this.#timer = setInterval(publish, 1000 / ratePerS)
    await promise
    void this.#countUnread()
  }

  /** When the publisher hears that permissions of this user changed. */
  async heardOf(user: string): Promise<void> {
    for await (const status of this.#publisher.status())
      if (status.type === 'registry' && status.change.kind === 'permissions' && status.change.user === user)
        return
  }

  /** The first message in another epoch than the one in use now. */
  nextEpoch(): Promise<StreamMessage> {
    let before: string | undefined
    return new Promise((resolve) => {
      const stop = this.#reader.network.on('message', ({ message }) => {
        if (message.streamId !== this.streamId || message.encryptionType !== EncryptionType.sealedBatch)
          return
        before ??= message.groupKeyId
        if (message.groupKeyId === before) return
        stop()
        resolve(message)
      })
    })
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#publisher.close()
    await this.#reader.close()
  }

  async #countUnread(): Promise<void> {
    for await (const status of this.#reader.status()) if (status.type === 'undecodable') this.unread++
  }
}

async function revokedOnce(network: KeyNetwork, owner: RunnelClient, load: Load): Promise<RevocationTimes> {
  const { streamId, isEncrypted } = load
  const reader = await network.client(network.newUser())
  if (isEncrypted) await reader.ensureCard()
  const heard = load.heardOf(reader.userId)
  await owner.grant(streamId, { user: reader.userId, permissions: ['subscribe'] })
  const { promise: reads, resolve } = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<unknown>()
  let lastReadMs = 0
  await reader.subscribe(streamId, { onEnded: ended.resolve }, ({ timestamp }) => {
    lastReadMs = timestamp
    resolve()
  })
  await within(maxBlindMs, 'waiting for the first message', Promise.all([reads, heard]))
  const next = isEncrypted ? load.nextEpoch() : undefined
  await owner.revoke(streamId, { user: reader.userId, permissions: ['subscribe'] })
  // The chain mines each transaction at once: what is counted from here lacks less than it takes to hear of that.
  const minedMs = Date.now()
  const blindAtMs = (await within(maxBlindMs, 'blinding a reader', next ?? Promise.resolve(undefined)))
    ?.timestamp
  // Its neighbours let go of it, or it has left by itself.
  const isLeft = Promise.race([untilAlone(reader, streamId), ended.promise])
  await within(maxBlindMs, 'letting go of a reader', isLeft)
  await reader.close()
  return { blind: (blindAtMs ?? minedMs) - minedMs, lastRead: Math.max(0, lastReadMs - minedMs) }
}

/** When no neighbour is left. */
async function untilAlone(reader: RunnelClient, streamId: StreamId): Promise<void> {
  const neighbours = () =>
    reader.network.metrics().streamParts.find((part) => part.streamPartId.startsWith(`${streamId}#0`))
      ?.neighbours
  if ((neighbours()?.length ?? 0) === 0) return
  await new Promise<void>((resolve) => {
    const stop = reader.network.on('neighbours', () => {
      if ((neighbours()?.length ?? 0) > 0) return
      stop()
      resolve()
    })
  })
}
