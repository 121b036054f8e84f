/// <reference lib="dom" />
/** Runs in the page: a client, and what a test asks of it. */
import type { ClientConfig, Message, RunnelClient } from '@runnel/client/browser'
import type * as Runnel from './index.ts'

/** The bundle, which the page has loaded. */
declare const runnel: typeof Runnel

export interface TabNeighbour {
  readonly nodeId: string
  readonly transport: string
}

/** What a page has received, and who waits for more. */
class Inbox {
  readonly contents: unknown[] = []
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  push({ content }: Message): void {
    this.contents.push(content)
    for (const { count, resolve } of this.#waiting) if (this.contents.length >= count) resolve()
  }

  count(count: number): Promise<void> {
    if (this.contents.length >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }
}

let client: RunnelClient | undefined
const inbox = new Inbox()

/** What a wallet's extension would have put there. */
function injected(): Runnel.Eip1193Provider {
  const { ethereum } = globalThis as { ethereum?: Runnel.Eip1193Provider }
  if (ethereum === undefined) throw new Error('no wallet is injected')
  return ethereum
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

export const driver = {
  open: (config: ClientConfig, { wallet = false } = {}) =>
    outcome(async () => {
      client = await runnel.createClient(config, wallet ? { wallet: injected() } : {})
      return client.nodeId as string
    }),
  subscribe: (streamId: string) =>
    outcome(async () => {
      await opened().subscribe(streamId, {}, (message) => inbox.push(message))
    }),
  publish: (streamId: string, content: unknown) =>
    outcome(async () => {
      await opened().publish(streamId, content)
    }),
  async received(count: number): Promise<unknown[]> {
    await inbox.count(count)
    return inbox.contents
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
  keyFromWallet: () =>
    outcome(() => runnel.keyFromWallet((globalThis as { ethereum?: Runnel.Eip1193Provider }).ethereum)),
  storedKey: () => outcome(() => runnel.storedKey()),
  createStream: (path: string) => outcome(async () => (await opened().createStream({ path })).id as string),
  grant: (streamId: string, grant: Runnel.GrantOptions) => outcome(() => opened().grant(streamId, grant)),
  phases: () => opened().phases,
  async close(): Promise<void> {
    await client?.close()
    client = undefined
  },
}

export type Driver = typeof driver
Object.assign(globalThis, { driver })
