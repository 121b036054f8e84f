import {
  signDelegation,
  signMembership,
  type Credential,
  type DelegationClaim,
  type Identity,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import type { Acting } from '../connection/modules.ts'
import type { Connection } from '../ports.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

const toStop: WebSocketTransport[] = []
afterEach(async () => {
  for (const transport of toStop.splice(0)) await transport.stop()
})

const chainId = 5
const modulesOf = (name: string) => testModules(name, systemClock)
const { crypto, identity: user } = modulesOf('user')

function claim(delegateId: Identity['nodeId'], changes: Partial<DelegationClaim> = {}): DelegationClaim {
  const fromMs = Date.now() - 1000
  return {
    ...{ chainId, userId: user.nodeId, delegateId, fromMs, untilMs: fromMs + 3_600_000 },
    ...{ publishes: true, reads: true, streams: [], requester: 'test', block: 0 },
    ...changes,
  }
}

const credentialOf = (name: string, changes: Partial<DelegationClaim> = {}, signer = user): Credential => ({
  delegation: signDelegation(claim(modulesOf(name).identity.nodeId, changes), crypto, signer),
})

class Shown implements Acting {
  readonly chainId = chainId
  readonly #listeners = new Set<() => void>()
  #credential: Credential | undefined

  constructor(credential: Credential | undefined) {
    this.#credential = credential
  }

  credential(): Credential | undefined {
    return this.#credential
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  renew(credential: Credential): void {
    this.#credential = credential
    for (const listener of this.#listeners) listener()
  }
}

async function listening(acting?: Acting) {
  const modules = modulesOf('server')
  const listen = { host: '127.0.0.1', port: 0 }
  const server = new WebSocketTransport({ role: 'node', listen }, acting ? { ...modules, acting } : modules)
  toStop.push(server)
  await server.start()
  return { server, inbound: new Promise<Connection>((resolve) => (server.onInbound = resolve)) }
}

async function dial(server: WebSocketTransport, acting?: Acting): Promise<Connection> {
  const modules = modulesOf('client')
  const client = new WebSocketTransport({ role: 'node' }, acting ? { ...modules, acting } : modules)
  toStop.push(client)
  await client.start()
  const peerId = modulesOf('server').identity.nodeId
  return new Promise((onOpen, onFail) => client.dial({ peerId, url: server.url, onOpen, onFail }))
}

/** Why the listener ended a link that the dialler took for open. */
async function refusedWith(acting: Acting): Promise<string> {
  const { server } = await listening(new Shown(undefined))
  const connection = await dial(server, acting)
  return new Promise((resolve) => {
    connection.events = { onPacket() {}, onDrain() {}, onClose: ({ code }) => resolve(code) }
  })
}

describe('credentials', () => {
  it('are known on both sides when the link opens', async () => {
    const { server, inbound } = await listening(new Shown(credentialOf('server')))
    const outbound = await dial(server, new Shown(credentialOf('client')))
    for (const { actingFor } of [outbound, await inbound]) expect(actingFor?.userId).toBe(user.nodeId)
  })

  it('may be of one side only, and mean nothing to one that acts for itself', async () => {
    const { server, inbound } = await listening()
    const outbound = await dial(server, new Shown(credentialOf('client')))
    expect([outbound.actingFor, (await inbound).actingFor?.userId]).toEqual([undefined, user.nodeId])
  })

  it('let a delegate lend its delegation to a node by a token', async () => {
    const delegate = modulesOf('delegate').identity
    const { nodeId } = modulesOf('client').identity
    const token = signMembership({ nodeId, expiresMs: Date.now() + 60_000 }, crypto, delegate)
    const { server, inbound } = await listening()
    await dial(server, new Shown({ ...credentialOf('delegate'), token }))
    expect((await inbound).actingFor).toMatchObject({ userId: user.nodeId, untilMs: token.expiresMs })
  })

  it.each<[string, Credential]>([
    ['DELEGATION_EXPIRED', credentialOf('client', { fromMs: 1, untilMs: 1000 })],
    [
      'DELEGATION_NOT_YET',
      credentialOf('client', { fromMs: Date.now() + 3_600_000, untilMs: Date.now() + 7_200_000 }),
    ],
    ['DELEGATION_FORGED', credentialOf('client', {}, modulesOf('stranger').identity)],
    ['DELEGATION_NOT_YOURS', credentialOf('stranger')],
    ['DELEGATION_OTHER_CHAIN', credentialOf('client', { chainId: 1 })],
    ['DELEGATION_TOO_BROAD', credentialOf('client', { untilMs: Date.now() + 93 * 86_400_000 })],
  ])('that are no good end the link with %s', async (code, credential) => {
    expect(await refusedWith(new Shown(credential))).toBe(code)
  })

  it('are renewed on an open link, for the same user only', async () => {
    const acting = new Shown(credentialOf('client'))
    const { server, inbound } = await listening()
    const outbound = await dial(server, acting)
    const connection = await inbound
    const next = credentialOf('client', { requester: 'renewed' })
    const renewed = new Promise<void>((resolve) => {
      connection.events = { onPacket() {}, onDrain() {}, onClose() {}, onCredential: resolve }
    })
    acting.renew(next)
    await renewed
    expect(connection.actingFor?.delegation).toEqual(next.delegation)
    const closed = new Promise<string>((resolve) => {
      outbound.events = { onPacket() {}, onDrain() {}, onClose: ({ code }) => resolve(code) }
    })
    const stranger = modulesOf('stranger').identity
    acting.renew(credentialOf('client', { userId: stranger.nodeId }, stranger))
    expect(await closed).toBe('PROTOCOL_VIOLATION')
  })

  it('end the link when they end', async () => {
    const { server, inbound } = await listening()
    await dial(server, new Shown(credentialOf('client', { untilMs: Date.now() + 300 })))
    const connection = await inbound
    const code = await new Promise((resolve) => {
      connection.events = { onPacket() {}, onDrain() {}, onClose: ({ code }) => resolve(code) }
    })
    expect(code).toBe('DELEGATION_EXPIRED')
  })
})
