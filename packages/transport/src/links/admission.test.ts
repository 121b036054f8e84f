import { loadCrypto, seededRandom, signDelegation, type Delegation, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryNetwork } from '../memory/memory-network.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import type { Connection } from '../ports.ts'
import type { LinksOptions } from './links-options.ts'
import { createTestNode, dialledByEverybody, identityOf, numbered } from './links.testkit.ts'

const crypto = await loadCrypto()

/** One that lists nodes, as a test says. */
function newAdmission() {
  const listed = new Set<NodeId>()
  const listeners = new Set<() => void>()
  return {
    isPrivate: true,
    allows: (nodeId: NodeId) => listed.has(nodeId),
    onChange: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    list: (nodeId: NodeId, isListed = true) => {
      listed[isListed ? 'add' : 'delete'](nodeId)
      for (const listener of listeners) listener()
    },
    get listeners() {
      return listeners.size
    },
  }
}

/** Shows a delegation, and another when it is told to. */
function actingBy(first: Delegation) {
  let delegation = first
  const listeners = new Set<() => void>()
  return {
    chainId: 0,
    credential: () => ({ delegation }),
    onChange: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    renew: (next: Delegation) => {
      delegation = next
      for (const listener of listeners) listener()
    },
  }
}

/** A node of a private network, and another that wants to be its peer. */
async function privateAndOther(label: string) {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: label }, { clock })
  const admission = newAdmission()
  const member = await createTestNode(identityOf(`${label} member`), {}, { network, clock, admission })
  const other = await createTestNode(identityOf(`${label} other`), {}, { network, clock })
  return { clock, admission, member, other }
}

/** A node, and a peer that dials it, or that it finds, for a user or for nobody. */
async function nodeAndDelegate(options: Partial<LinksOptions> = {}) {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: 'users' }, { clock })
  const [own, peer] = [identityOf('own'), identityOf('peer')]
  const node = await createTestNode(own, options, { network, clock })
  const user = identityOf('user')
  const fromMs = clock.now()
  const claim = { chainId: 0, userId: user.nodeId, delegateId: peer.nodeId, fromMs, untilMs: fromMs + 60_000 }
  const rights = { publishes: true, reads: true, streams: [], requester: '', block: 0 }
  const acting = actingBy(signDelegation({ ...claim, ...rights }, crypto, user))
  const start = async (isForUser: boolean) => {
    const random = seededRandom(String(isForUser))
    const modules = { clock, random, crypto, identity: peer, ...(isForUser ? { acting } : {}) }
    const transport = network.transport({ role: 'node' }, modules)
    await transport.start()
    return transport
  }
  const dial = async (isForUser: boolean): Promise<void> => {
    const transport = await start(isForUser)
    transport.dial({ peerId: own.nodeId, onOpen: () => undefined, onFail: () => undefined })
    clock.advanceBy(1000)
  }
  return { clock, network, node, user, peerId: peer.nodeId, start, dial }
}

describe('Links end when the peer connects again for another user', () => {
  it('and the new link carries packets', async () => {
    const { clock, node, user, peerId, dial } = await nodeAndDelegate()
    await dial(true)
    expect(node.connections.at(-1)?.actingFor?.userId).toBe(user.nodeId)
    await dial(false)
    expect(node.log).toEqual(['opened', 'closed REPLACED', 'opened'])
    expect(node.links.peers.get(peerId)?.actingFor).toBeUndefined()
    expect(node.links.send(peerId, numbered(1))).toBe(true)
    clock.advanceBy(60_000)
    node.links.disconnect(peerId, 'UNUSED', '')
    clock.advanceBy(1000)
    expect(node.log.slice(3)).toEqual(['closed UNUSED'])
    expect(node.links.peers.size).toBe(0)
  })

  it('and the new link is closed unless somebody here uses it, the old one having been used or not', async () => {
    for (const isUsed of [false, true]) {
      const { clock, node, peerId, dial } = await nodeAndDelegate()
      await dial(true)
      if (isUsed) node.links.send(peerId, numbered(1))
      await dial(false)
      clock.advanceBy(30_000)
      expect(node.log.slice(2)).toEqual(['opened', 'closed UNUSED'])
      expect(node.links.counters.unsolicitedUnused).toBe(1)
    }
  })

  it('and the new link gives way to newer ones that nobody uses', async () => {
    const { clock, network, node, dial } = await nodeAndDelegate({ maxUnsolicited: 1 })
    await dial(true)
    await dial(false)
    const other = await createTestNode(identityOf('other'), {}, { network, clock })
    other.links.connect(node.identity.nodeId, dialledByEverybody)
    clock.advanceBy(1000)
    expect([...node.links.peers.keys()]).toEqual([other.identity.nodeId])
  })

  it('and the new link is in use where this side dialled it', async () => {
    const { clock, node, peerId, start, dial } = await nodeAndDelegate()
    await dial(true)
    await start(false)
    node.links.find({
      ...{ url: 'memory:', peerId, timeoutMs: 1000 },
      ...{ onFound: () => undefined, onFail: ({ code }) => expect.fail(code) },
    })
    clock.advanceBy(60_000)
    expect(node.log).toEqual(['opened', 'closed REPLACED', 'opened'])
    expect(node.links.send(peerId, numbered(1))).toBe(true)
  })
})

describe('Links of a private network', () => {
  it('let nobody in who is not listed, and who is as soon as it is', async () => {
    const { clock, admission, member, other } = await privateAndOther('in')
    other.links.connect(member.identity.nodeId, dialledByEverybody)
    clock.advanceBy(1000)
    expect([member.log, other.log]).toEqual([[], ['opened', 'closed NODE_NOT_LISTED']])
    expect(member.links.counters.notListed).toBe(1)
    admission.list(other.identity.nodeId)
    other.links.connect(member.identity.nodeId, dialledByEverybody)
    clock.advanceBy(1000)
    expect(member.log).toEqual(['opened'])
  })

  it('are not opened to somebody who is not listed, whoever orders it', async () => {
    const { clock, member, other } = await privateAndOther('out')
    member.links.connect(other.identity.nodeId, dialledByEverybody)
    expect(member.log).toEqual([])
    clock.advanceBy(60_000)
    expect([member.log, other.log]).toEqual([
      ['failed NODE_NOT_LISTED'],
      ['opened', 'closed NODE_NOT_LISTED'],
    ])
    expect(member.links.counters.notListed).toBe(1)
  })

  it('end when the peer is removed, and carry nothing any more', async () => {
    const { clock, admission, member, other } = await privateAndOther('end')
    admission.list(other.identity.nodeId)
    member.links.connect(other.identity.nodeId, dialledByEverybody)
    clock.advanceBy(1000)
    expect(member.links.send(other.identity.nodeId, numbered(1))).toBe(true)
    clock.advanceBy(1000)
    admission.list(other.identity.nodeId, false)
    expect(member.links.send(other.identity.nodeId, numbered(2))).toBe(false)
    clock.advanceBy(60_000)
    expect([member.log, other.log]).toEqual([
      ['opened', 'closed NODE_NOT_LISTED'],
      ['opened', 'closed NODE_NOT_LISTED'],
    ])
    expect(other.received).toEqual([1])
  })

  it('fail when the peer is removed while they open', async () => {
    const { clock, admission, member, other } = await privateAndOther('while')
    admission.list(other.identity.nodeId)
    member.links.connect(other.identity.nodeId, dialledByEverybody)
    admission.list(other.identity.nodeId, false)
    clock.advanceBy(60_000)
    expect([member.log, other.log]).toEqual([
      ['failed NODE_NOT_LISTED'],
      ['opened', 'closed NODE_NOT_LISTED'],
    ])
  })

  it('end when the peer shows a delegation that its user took back, or one of another user', async () => {
    const user = identityOf('listed user')
    for (const [signer, code] of [
      [user, 'DELEGATION_REVOKED'],
      [identityOf('another user'), 'PROTOCOL_VIOLATION'],
    ] as const) {
      const clock = new VirtualClock()
      const network = new MemoryNetwork({ seed: code }, { clock })
      const [own, peer] = [identityOf('own'), identityOf('peer')]
      const delegationBy = (by: typeof user, requester: string) => {
        const times = { fromMs: clock.now(), untilMs: clock.now() + 60_000 }
        const claim = { chainId: 0, userId: by.nodeId, delegateId: peer.nodeId, ...times, block: 0 }
        return signDelegation({ ...claim, publishes: true, reads: true, streams: [], requester }, crypto, by)
      }
      const admission = {
        ...newAdmission(),
        allows: (_: NodeId, delegation?: Delegation) => delegation?.requester !== 'revoked',
      }
      const member = await createTestNode(own, {}, { network, clock, admission })
      const acting = actingBy(delegationBy(user, 'first'))
      const modules = { clock, random: seededRandom(code), crypto, identity: peer, acting }
      const transport = network.transport({ role: 'node' }, modules)
      await transport.start()
      const closed: string[] = []
      const onOpen = (connection: Connection) => {
        connection.events = { onPacket() {}, onDrain() {}, onClose: (reason) => closed.push(reason.code) }
      }
      transport.dial({ peerId: own.nodeId, onOpen, onFail: () => undefined })
      clock.advanceBy(1000)
      acting.renew(delegationBy(user, 'second'))
      clock.advanceBy(1000)
      expect(member.log).toEqual(['opened'])
      acting.renew(delegationBy(signer, 'revoked'))
      clock.advanceBy(1000)
      expect([member.log, closed]).toEqual([['opened', `closed ${code}`], [code]])
    }
  })

  it('follow the list no longer once they are stopped', async () => {
    const { admission, member } = await privateAndOther('stop')
    expect(admission.listeners).toBe(1)
    member.links.stop()
    expect(admission.listeners).toBe(0)
  })
})
