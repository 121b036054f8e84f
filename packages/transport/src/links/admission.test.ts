import { loadCrypto, seededRandom, signDelegation, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryNetwork } from '../memory/memory-network.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
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

/** A node of a private network, and another that wants to be its peer. */
async function privateAndOther(label: string) {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: label }, { clock })
  const admission = newAdmission()
  const member = await createTestNode(identityOf(`${label} member`), {}, { network, clock, admission })
  const other = await createTestNode(identityOf(`${label} other`), {}, { network, clock })
  return { clock, admission, member, other }
}

it('Links end when the peer connects again for another user', async () => {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: 'users' }, { clock })
  const [own, peer] = [identityOf('own'), identityOf('peer')]
  const node = await createTestNode(own, {}, { network, clock })
  const user = identityOf('user')
  const fromMs = clock.now()
  const claim = { chainId: 0, userId: user.nodeId, delegateId: peer.nodeId, fromMs, untilMs: fromMs + 60_000 }
  const rights = { publishes: true, reads: true, streams: [], requester: '', block: 0 }
  const credential = { delegation: signDelegation({ ...claim, ...rights }, crypto, user) }
  const acting = { chainId: 0, credential: () => credential, onChange: () => () => undefined }
  const dial = async (shown: boolean): Promise<void> => {
    const random = seededRandom(String(shown))
    const modules = { clock, random, crypto, identity: peer, ...(shown ? { acting } : {}) }
    const transport = network.transport({ role: 'node' }, modules)
    await transport.start()
    transport.dial({ peerId: own.nodeId, onOpen: () => undefined, onFail: () => undefined })
    clock.advanceBy(1000)
  }
  await dial(true)
  expect(node.connections.at(-1)?.actingFor?.userId).toBe(user.nodeId)
  await dial(false)
  expect(node.log).toEqual(['opened', 'closed REPLACED', 'opened'])
  expect(node.links.peers.get(peer.nodeId)?.actingFor).toBeUndefined()
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

  it('follow the list no longer once they are stopped', async () => {
    const { admission, member } = await privateAndOther('stop')
    expect(admission.listeners).toBe(1)
    member.links.stop()
    expect(admission.listeners).toBe(0)
  })
})
