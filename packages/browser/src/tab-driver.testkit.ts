/// <reference lib="dom" />
/** Runs in the page: a client, and what a test asks of it. */
import type { ClientConfig, ClientStatus, RunnelClient } from '@runnel/client/browser'
import type * as Runnel from './index.ts'

/** The bundle, which the page has loaded. */
declare const runnel: typeof Runnel

interface TabNeighbour {
  readonly nodeId: string
  readonly transport: string
}

/** What has come, and who waits for more. */
class Inbox<T> {
  readonly items: T[] = []
  #waiting: (() => void)[] = []

  push(item: T): void {
    this.items.push(item)
    for (const check of this.#waiting.splice(0)) check()
  }

  /** Resolves when it is so. */
  until(isSo: (items: readonly T[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => (isSo(this.items) ? resolve() : void this.#waiting.push(check))
      check()
    })
  }
}

/** A status as it can leave the page: of an error the code. */
type PlainStatus = Readonly<Record<string, unknown>> & { readonly code?: string }

function plain(status: ClientStatus): PlainStatus {
  const code = 'error' in status && runnel.isRunnelError(status.error) ? status.error.code : undefined
  return { ...status, ...(code === undefined ? {} : { code }), error: undefined }
}

async function keepStatuses(client: RunnelClient): Promise<void> {
  for await (const status of client.status()) statuses.push(plain(status))
}

let client: RunnelClient | undefined
const inbox = new Inbox<unknown>()
const statuses = new Inbox<PlainStatus>()

/** What a wallet's extension would have put there. */
function injected(): Runnel.Eip1193Provider | undefined {
  return (globalThis as { ethereum?: Runnel.Eip1193Provider }).ethereum
}

function opened(): RunnelClient {
  if (client === undefined) throw new Error('no client is open')
  return client
}

/** What comes back of an error: an exception that crosses to the test keeps its message only. */
export type Outcome<T> = { readonly value: T } | { readonly code: string; readonly message: string }

async function outcome<T>(run: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await run() }
  } catch (error) {
    if (!runnel.isRunnelError(error)) throw error
    return { code: error.code, message: error.message }
  }
}

const driver = {
  /** `wallet`: the injected one signs changes of the registries. `actsForWallet`: the client acts for its account. */
  open: (config: ClientConfig, { wallet = false, actsForWallet = false } = {}) =>
    outcome(async () => {
      client = await runnel.createClient(
        actsForWallet ? { ...config, wallet: injected() } : config,
        wallet ? { wallet: injected() } : {},
      )
      void keepStatuses(client)
      return client.userId
    }),
  subscribe: (streamId: string) =>
    outcome(async () => {
      await opened().subscribe(streamId, {}, ({ content }) => inbox.push(content))
    }),
  publish: (streamId: string, content: unknown) =>
    outcome(async () => {
      await opened().publish(streamId, content)
    }),
  /** The contents of the newest stored messages. */
  history: (streamId: string, last: number) =>
    outcome(async () => {
      const contents: unknown[] = []
      for await (const { content } of opened().resend(streamId, { last })) contents.push(content)
      return contents
    }),
  /** The contents of so many messages of a durable reader, which are acknowledged, and stored as that. */
  readDurably: (streamId: string, name: string, count: number) =>
    outcome(async () => {
      const reader = await opened().reader(streamId, { name })
      const contents: unknown[] = []
      for await (const { content, ack } of reader) {
        contents.push(content)
        ack()
        if (contents.length === count) break
      }
      return contents
    }),
  /** The public key of the user's card, in hexadecimal digits. */
  ensureCard: () =>
    outcome(async () => {
      const { publicKey } = await opened().ensureCard()
      return Array.from(publicKey, (byte) => byte.toString(16).padStart(2, '0')).join('')
    }),
  async received(count: number): Promise<unknown[]> {
    await inbox.until(({ length }) => length >= count)
    return inbox.items
  },
  async receivedUpTo(content: unknown): Promise<unknown[]> {
    await inbox.until((items) => items.includes(content))
    return inbox.items
  },
  /** Resolves when there are as many neighbours in the first stream part, with how they are reached. */
  async neighbours(count: number): Promise<TabNeighbour[]> {
    const { network } = opened()
    const [streamPartId] = network.streamParts
    if (streamPartId === undefined) throw new Error('nothing is joined')
    await network.waitForNeighbours(streamPartId, { count })
    return driver.neighboursNow()
  },
  neighboursNow(): TabNeighbour[] {
    const [part] = opened().network.metrics().streamParts
    return (part?.neighbours ?? []).map(({ nodeId, transport }) => ({ nodeId, transport }))
  },
  storedKey: () => outcome(() => runnel.storedKey()),
  /** Of the injected wallet's account, kept for all tabs: the delegate. */
  openSession: (wish: Runnel.DelegationWish) =>
    outcome(async () => {
      const session = await runnel.openSession(runnel.walletSigner(injected()), wish, runnel.originStore())
      return { userId: session.delegation.userId, key: session.delegatePrivateKey }
    }),
  createStream: (path: string) => outcome(async () => (await opened().createStream({ path })).id as string),
  grant: (streamId: string, grant: Runnel.GrantOptions) => outcome(() => opened().grant(streamId, grant)),
  /** Resolves with the first status, of all since the client was opened, that has these fields. */
  async status(fields: PlainStatus): Promise<PlainStatus> {
    const has = (status: PlainStatus): boolean =>
      Object.entries(fields).every(([name, value]) => status[name] === value)
    await statuses.until((items) => items.some(has))
    return statuses.items.find(has) ?? {}
  },
  /** The codes with which so many messages could not be read. */
  async undecodable(count: number): Promise<(string | undefined)[]> {
    const ofMessages = () => statuses.items.filter(({ type }) => type === 'undecodable')
    await statuses.until(() => ofMessages().length >= count)
    return ofMessages().map(({ code }) => code)
  },
  counters: () => opened().network.metrics().counters,
  hosts: () => opened().hosts.map(({ url, nodeId }) => ({ url, nodeId })),
  phases: () => opened().phases,
  async close(): Promise<void> {
    await client?.close()
    client = undefined
  },
}

export type Driver = typeof driver
Object.assign(globalThis, { driver })
