import { createNetworkNode } from '@runnel/network'
import {
  createIdentity,
  encodeDelegation,
  generatePrivateKey,
  loadCrypto,
  signDelegation,
  toHex,
  type DelegationClaim,
  type Identity,
  type NodeId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker, type TrackerModules } from '@runnel/tracker'
import type { ClientModules, CreateNode } from './client.ts'
import { createClient, type ClientConfig } from './index.ts'
import type { RunnelClient } from './runnel-client.ts'
import type { ClientStatus } from './status.ts'

const crypto = await loadCrypto()

/** A key, and who it is. */
export function newAccount(): { readonly privateKey: string; readonly nodeId: NodeId } {
  const key = generatePrivateKey(systemRandom)
  return { privateKey: Buffer.from(key).toString('hex'), nodeId: createIdentity(key, crypto).nodeId }
}

export function newIdentity(): Identity {
  return createIdentity(generatePrivateKey(systemRandom), crypto)
}

/** What a delegation file of a user would hold. */
export function delegatedBy(
  user: Identity,
  changes: Partial<DelegationClaim> = {},
  signer = user,
): NonNullable<ClientConfig['delegation']> {
  const key = generatePrivateKey(systemRandom)
  const nowMs = systemClock.now()
  const claim: DelegationClaim = {
    ...{ chainId: 0, userId: user.nodeId, delegateId: createIdentity(key, crypto).nodeId, block: 0 },
    ...{ fromMs: nowMs - 3_600_000, untilMs: nowMs + 3_600_000 },
    ...{ publishes: true, reads: true, streams: [], requester: 'a test' },
    ...changes,
  }
  const delegation = toHex(encodeDelegation(signDelegation(claim, crypto, signer)))
  return { privateKey: toHex(key), delegation }
}

/** A real tracker on a free port of this machine; for everybody and every stream, unless told otherwise. */
export async function startTracker(
  identity = newIdentity(),
  rights: Pick<TrackerModules, 'admission' | 'permissions'> = {},
): Promise<Tracker> {
  const tracker = createTracker(
    { listen: { port: 0 } },
    { identity, crypto, clock: systemClock, random: systemRandom, ...rights },
  )
  await tracker.start()
  return tracker
}

/** A fault fails the test: what is thrown here nobody catches. Sockets need real time, whatever the clock of the client. */
const createNode: CreateNode = (options, modules) =>
  createNetworkNode(options, {
    ...modules,
    clock: systemClock,
    onError: (error) => {
      throw error
    },
  })

/** Makes clients with the same settings, and closes them all at the end. */
export class Clients {
  readonly #defaults: Omit<ClientConfig, 'privateKey'>
  readonly #clients: RunnelClient[] = []

  constructor(defaults: Omit<ClientConfig, 'privateKey'>) {
    this.#defaults = defaults
  }

  /** One that others can dial by WebSocket, unless told otherwise. */
  async create(
    config: Partial<ClientConfig> = {},
    modules: Pick<ClientModules, 'contentSteps' | 'sessions' | 'cards' | 'clock'> = {},
  ): Promise<RunnelClient> {
    const transports = { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } as const
    const client = await createClient(
      { transports, ...this.#defaults, ...config },
      { createNode, ...modules },
    )
    this.#clients.push(client)
    return client
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()))
  }
}

/** The next status of a type, from when this is called. */
export async function nextStatus<T extends ClientStatus['type']>(
  client: RunnelClient,
  type: T,
  matches: (status: Extract<ClientStatus, { type: T }>) => boolean = () => true,
): Promise<Extract<ClientStatus, { type: T }>> {
  const isWanted = (status: ClientStatus): status is Extract<ClientStatus, { type: T }> =>
    status.type === type
  for await (const status of client.status()) if (isWanted(status) && matches(status)) return status
  throw new Error(`The client closed without a status of type ${type}`)
}

/** Takes so many items. */
export async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = []
  if (count === 0) return taken
  const iterator = items[Symbol.asyncIterator]()
  while (taken.length < count) {
    const { done, value } = await iterator.next()
    if (done) throw new Error(`Ended after ${taken.length} of ${count}`)
    taken.push(value)
  }
  return taken
}
