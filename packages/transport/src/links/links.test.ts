import { seededRandom, type Contact } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryNetwork } from '../memory/memory-network.ts'
import type { MemoryNetworkOptions } from '../memory/memory-options.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import type { LinksOptions } from './links-options.ts'
import {
  createTestNode,
  dialledByEverybody,
  dialsEverybody,
  identityOf,
  numbered,
  twoIdentities,
  type TestNode,
} from './links.testkit.ts'
import { maxSpares } from './spares.ts'

async function pair(
  label: string,
  options: {
    network?: Partial<MemoryNetworkOptions>
    low?: Partial<LinksOptions>
    high?: Partial<LinksOptions>
  } = {},
) {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: label, ...options.network }, { clock })
  const [lowIdentity, highIdentity] = twoIdentities(label)
  const low = await createTestNode(lowIdentity, options.low ?? {}, { network, clock })
  const high = await createTestNode(highIdentity, options.high ?? {}, { network, clock })
  return { clock, network, low, high }
}

function connect(from: TestNode, to: TestNode, contact: Contact): void {
  from.links.connect(to.identity.nodeId, contact)
}

const openOf = (node: TestNode) => node.connections.filter(({ writable }) => writable)

describe('Links', () => {
  it('dials on one side and waits on the other', async () => {
    const { clock, low, high } = await pair('one dials', { high: { contact: () => dialledByEverybody } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialsEverybody)
    clock.advanceBy(100)
    expect([low.log, high.log]).toEqual([['opened'], ['opened']])
    expect([low.connections[0]?.direction, high.connections[0]?.direction]).toEqual(['outbound', 'inbound'])
  })

  it('tells each side of a disconnect once', async () => {
    const { clock, low, high } = await pair('disconnect')
    connect(low, high, dialledByEverybody)
    clock.advanceBy(100)
    low.links.disconnect(high.identity.nodeId, 'UNUSED', 'the test is over')
    expect(low.log).toEqual(['opened'])
    expect(low.links.send(high.identity.nodeId, numbered(1))).toBe(false)
    clock.advanceBy(100)
    expect([low.log, high.log]).toEqual([
      ['opened', 'closed UNUSED'],
      ['opened', 'closed UNUSED'],
    ])
    expect([low.links.peers.size, high.links.peers.size]).toEqual([0, 0])
  })

  it('keeps the link while a megabyte that was sent in one turn crosses a slow line', async () => {
    const { clock, low, high } = await pair('burst', { network: { bytesPerMs: 20, windowBytes: 65_536 } })
    connect(low, high, dialledByEverybody)
    clock.advanceBy(100)
    high.links.keep(low.identity.nodeId)
    for (let n = 1; n <= 60; n++) expect(low.links.send(high.identity.nodeId, numbered(n, 16))).toBe(true)
    clock.advanceBy(100_000)
    expect([low.log, high.log]).toEqual([['opened'], ['opened']])
    expect(high.received).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
  })

  it('gives up waiting when nobody comes', async () => {
    const { clock, low, high } = await pair('waits', { high: { contact: () => dialledByEverybody } })
    connect(high, low, dialsEverybody)
    clock.advanceBy(14_999)
    expect(high.log).toEqual([])
    clock.advanceBy(1)
    expect(high.log).toEqual(['failed DIAL_TIMEOUT'])
  })

  it('says when there is no way', async () => {
    const { clock, low, high } = await pair('no way')
    connect(low, high, dialsEverybody)
    expect(low.log).toEqual([])
    clock.advanceBy(20_000)
    expect(low.log).toEqual(['failed NO_COMMON_TRANSPORT'])
  })

  it('fails when nobody answers, and can try again', async () => {
    const { clock, network, low, high } = await pair('dead')
    network.setOnline(high.identity.nodeId, false)
    connect(low, high, dialledByEverybody)
    clock.advanceBy(15_000)
    expect(low.log).toEqual(['failed DIAL_TIMEOUT'])
    network.setOnline(high.identity.nodeId, true)
    connect(low, high, dialledByEverybody)
    clock.advanceBy(100)
    expect(low.log).toEqual(['failed DIAL_TIMEOUT', 'opened'])
  })

  it('forgets a dial that was cancelled', async () => {
    const { clock, low, high } = await pair('cancelled')
    connect(low, high, dialledByEverybody)
    low.links.disconnect(high.identity.nodeId, 'UNUSED', '')
    clock.advanceBy(60_000)
    expect([low.log, high.log]).toEqual([[], []])
  })

  it('does not connect to itself', async () => {
    const { clock, low } = await pair('self')
    connect(low, low, dialledByEverybody)
    clock.advanceBy(60_000)
    expect(low.log).toEqual([])
  })

  it('closes everything and refuses what comes when stopped', async () => {
    const { clock, low, high } = await pair('stop')
    connect(low, high, dialledByEverybody)
    clock.advanceBy(100)
    low.links.stop()
    clock.advanceBy(100)
    expect([low.log, high.log]).toEqual([
      ['opened', 'closed SHUTTING_DOWN'],
      ['opened', 'closed SHUTTING_DOWN'],
    ])
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    expect(low.log).toHaveLength(2)
    expect(high.log).toEqual(['opened', 'closed SHUTTING_DOWN', 'opened', 'closed SHUTTING_DOWN'])
  })
})

describe('Links nobody asked for', () => {
  it('are closed when nobody uses them', async () => {
    const { clock, low, high } = await pair('unused', { low: { unsolicitedGraceMs: 1000 } })
    connect(high, low, dialledByEverybody)
    clock.advanceBy(2000)
    expect(low.log).toEqual(['opened', 'closed UNUSED'])
    expect(low.links.counters.unsolicitedUnused).toBe(1)
  })

  it.each(['connect', 'send'])('are kept after a %s', async (use) => {
    const { clock, low, high } = await pair('used', { low: { unsolicitedGraceMs: 1000 } })
    connect(high, low, dialledByEverybody)
    clock.advanceBy(500)
    if (use === 'send') low.links.send(high.identity.nodeId, numbered(1))
    else connect(low, high, dialledByEverybody)
    clock.advanceBy(10_000)
    expect(low.log).toEqual(['opened'])
    expect(high.received).toEqual(use === 'send' ? [1] : [])
  })

  /** `count` nodes that open links to `low` one after the other and say nothing, from the network of `address(index)`. */
  async function openIdle(count: number, address: (index: number) => string | undefined) {
    const addresses = new Map<string, string | undefined>()
    const made = await pair('idle', {
      low: { unsolicitedGraceMs: 3_600_000 },
      network: { addressOf: (nodeId) => addresses.get(nodeId) },
    })
    const idle: TestNode[] = []
    for (let index = 0; index < count; index++) {
      const other = await createTestNode(identityOf(`idler ${index}`), {}, made)
      addresses.set(other.identity.nodeId, address(index))
      connect(other, made.low, dialledByEverybody)
      made.clock.advanceBy(10)
      idle.push(other)
    }
    return { ...made, idle, addresses }
  }

  it.each([
    ['one address', () => '192.0.2.1'],
    ['nobody knows where', () => undefined],
    ['as many networks', (index: number) => `10.0.${index}.1`],
  ])('that are idle, from %s, keep nobody from asking for something', async (_, address) => {
    const { clock, low, high, idle, addresses } = await openIdle(64, address)
    addresses.set(high.identity.nodeId, address(64))
    expect(low.links.peers.size).toBe(64)
    low.links.events = {
      ...low.links.events,
      onPacket: (peerId) => void low.links.send(peerId, numbered(7)),
    }
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    high.links.send(low.identity.nodeId, numbered(1))
    clock.advanceBy(100)
    expect(high.received).toEqual([7])
    expect(low.links.counters.unsolicitedEvicted).toBe(1)
    expect(idle.map(({ log }) => log.length)).toEqual([2, ...Array<number>(63).fill(1)])
    expect(idle[0]?.log).toEqual(['opened', 'closed TOO_MANY_CONNECTIONS'])
  })

  it('make room by the network that has most, those that say nothing first', async () => {
    const { clock, low, high, idle } = await openIdle(64, (index) => `10.0.${index < 20 ? 0 : 1}.${index}`)
    idle[20]?.links.send(low.identity.nodeId, numbered(1))
    clock.advanceBy(100)
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    expect(idle.findIndex(({ log }) => log.length === 2)).toBe(21)
  })

  it('do not count those that this side asked for or uses', async () => {
    const { clock, network, low, high, idle } = await openIdle(64, () => undefined)
    connect(low, high, dialledByEverybody)
    clock.advanceBy(100)
    expect(low.links.peers.size).toBe(65)
    low.links.send(idle[0]?.identity.nodeId ?? high.identity.nodeId, numbered(1))
    const newcomer = await createTestNode(identityOf('newcomer'), {}, { network, clock })
    connect(newcomer, low, dialledByEverybody)
    clock.advanceBy(100)
    expect([low.links.peers.size, low.links.counters.unsolicitedEvicted]).toEqual([66, 0])
  })
})

describe('Links when both dial', () => {
  it.each([0, 1, 2, 3, 4, 5, 7, 10, 20])(
    'lose nothing, and keep what the lower id dialled (%i ms apart)',
    async (apartMs) => {
      for (const lowFirst of [true, false]) {
        const { clock, low, high } = await pair(`race ${apartMs}`, { network: { latencyMs: 5, jitterMs: 3 } })
        const [first, second] = lowFirst ? [low, high] : [high, low]
        connect(first, second, dialledByEverybody)
        clock.advanceBy(apartMs)
        connect(second, first, dialledByEverybody)
        const sent = new Map([low, high].map((node) => [node, 0]))
        for (let ms = 0; ms < 60_000; ms += ms < 200 ? 1 : 500) {
          for (const [node, peer] of [[low, high] as const, [high, low] as const]) {
            const n = (sent.get(node) ?? 0) + 1
            if (node.links.send(peer.identity.nodeId, numbered(n))) sent.set(node, n)
          }
          clock.advanceBy(ms < 200 ? 1 : 500)
        }
        for (const [node, peer] of [[low, high] as const, [high, low] as const]) {
          expect(node.log).toEqual(['opened'])
          expect(node.received.length).toBe(sent.get(peer))
          expect(new Set(node.received).size).toBe(node.received.length)
          expect(openOf(node)).toHaveLength(1)
        }
        if (low.connections.length === 2) expect(openOf(low)[0]?.direction).toBe('outbound')
        if (apartMs === 0) expect(low.links.counters.duplicates).toBe(1)
      }
    },
  )

  it.each([
    ['the one that closes', [true, false]],
    ['the other', [false, true]],
    ['both', [true, true]],
  ] as const)(
    'lose nothing of a megabyte that %s had queued on the one that goes, on a slow line',
    async (_, [lowSends, highSends]) => {
      const { clock, low, high } = await pair('slow race', {
        network: { latencyMs: 5, bytesPerMs: 20, windowBytes: 65_536 },
      })
      connect(high, low, dialledByEverybody)
      clock.advanceBy(15)
      connect(low, high, dialledByEverybody)
      while (low.log.length === 0 || high.log.length === 0) clock.advanceBy(1)
      for (let n = 1; n <= 60; n++) {
        if (lowSends) expect(low.links.send(high.identity.nodeId, numbered(n, 16))).toBe(true)
        if (highSends) expect(high.links.send(low.identity.nodeId, numbered(n, 16))).toBe(true)
        // A frame is what one turn sends.
        clock.advanceBy(0)
      }
      clock.advanceBy(1000)
      expect([low, high].map(({ links }) => links.counters.duplicates)).toEqual([1, 1])
      clock.advanceBy(150_000)
      expect([low.log, high.log]).toEqual([['opened'], ['opened']])
      const all = Array.from({ length: 60 }, (_, index) => index + 1)
      expect([high.received, low.received]).toEqual([lowSends ? all : [], highSends ? all : []])
      expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([1, 1])
    },
  )

  it('keep several connections until nothing is under way on any, and no more of them than their limit', async () => {
    const { clock, low, high } = await pair('several', {
      network: { latencyMs: 5, bytesPerMs: 20, windowBytes: 65_536 },
    })
    const another = () => {
      const { nodeId: peerId } = low.identity
      const url = 'memory:'
      high.links.find({ url, peerId, timeoutMs: 15_000, onFound() {}, onFail: () => expect.unreachable() })
      clock.advanceBy(100)
    }
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    low.links.keep(high.identity.nodeId)
    for (let n = 1; n <= 60; n++) {
      expect(high.links.send(low.identity.nodeId, numbered(n, 16))).toBe(true)
      clock.advanceBy(0)
    }
    for (let spares = 1; spares <= maxSpares; spares++) {
      another()
      expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([spares + 1, spares + 1])
    }
    clock.advanceBy(150_000)
    expect([low.log, high.log]).toEqual([['opened'], ['opened']])
    expect(low.received).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([1, 1])
    for (let i = 0; i < 2 * maxSpares; i++) another()
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([1 + maxSpares, 1 + maxSpares])
  })

  it('go on with one of several spares when the connection in use breaks, and keep the others', async () => {
    const { clock, network, low, high } = await pair('spares', { network: { latencyMs: 5 } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialledByEverybody)
    const { nodeId: peerId } = low.identity
    const onFail = () => expect.unreachable()
    high.links.find({ url: 'memory:', peerId, timeoutMs: 15_000, onFound() {}, onFail })
    clock.advanceBy(100)
    network.breakLinks(peerId, 1)
    clock.advanceBy(100)
    expect([low.log, high.log]).toEqual([0, 1].map(() => ['opened', 'closed CONNECTION_LOST', 'opened']))
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([2, 2])
    expect(low.links.send(high.identity.nodeId, numbered(7))).toBe(true)
    expect(high.links.send(peerId, numbered(8))).toBe(true)
    clock.advanceBy(100_000)
    expect([high.received, low.received]).toEqual([[7], [8]])
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([1, 1])
  })

  it('say that the link closed when the connection in use breaks, for what was sent on it is lost, and go on with the spare', async () => {
    const { clock, network, low, high } = await pair('spare', { network: { latencyMs: 5 } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    const used = low.links.peers.get(high.identity.nodeId)
    expect(low.links.send(high.identity.nodeId, numbered(6))).toBe(true)
    network.breakLinks(low.identity.nodeId, 1)
    clock.advanceBy(100)
    expect([low.log, high.log]).toEqual([0, 1].map(() => ['opened', 'closed CONNECTION_LOST', 'opened']))
    expect(low.links.peers.get(high.identity.nodeId)).not.toBe(used)
    expect(low.links.send(high.identity.nodeId, numbered(7))).toBe(true)
    expect(high.links.send(low.identity.nodeId, numbered(8))).toBe(true)
    clock.advanceBy(100_000)
    expect([high.received, low.received]).toEqual([[7], [8]])
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([1, 1])
  })

  it('say nothing of what a spare said first when it goes on as a new link: that was for the one that closed', async () => {
    const { clock, network, low, high } = await pair('said first', { network: { latencyMs: 5 } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    const { nodeId: peerId } = high.identity
    for (const connection of low.connections) connection.saidFirst = numbered(1)
    const [spare] = low.connections.filter((connection) => connection !== low.links.peers.get(peerId))
    network.breakLinks(low.identity.nodeId, 1)
    clock.advanceBy(100)
    expect(low.log).toEqual(['opened', 'closed CONNECTION_LOST', 'opened'])
    expect(low.links.peers.get(peerId)).toBe(spare)
    expect(spare?.saidFirst).toBeUndefined()
  })

  it('go on with the spare also where the owner ends the link when it hears that it closed', async () => {
    const { clock, network, low, high } = await pair('ended by its owner', { network: { latencyMs: 5 } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    const { nodeId: peerId } = high.identity
    const { events } = low.links
    low.links.events = {
      ...events,
      onClosed(...args) {
        events.onClosed(...args)
        low.links.disconnect(peerId, 'UNUSED', '')
      },
    }
    network.breakLinks(low.identity.nodeId, 1)
    clock.advanceBy(100)
    expect(low.log).toEqual(['opened', 'closed CONNECTION_LOST', 'opened'])
    expect(low.links.send(peerId, numbered(7))).toBe(true)
    clock.advanceBy(100)
    expect(high.received).toEqual([7])
    low.links.stop()
    expect(openOf(low)).toEqual([])
  })

  it('end a link that only the spare is left of and that nobody uses', async () => {
    const { clock, network, low, high } = await pair('unused spare', { network: { latencyMs: 5 } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    network.breakLinks(low.identity.nodeId, 1)
    clock.advanceBy(100_000)
    for (const { log } of [low, high])
      expect(log.slice(0, 3)).toEqual(['opened', 'closed CONNECTION_LOST', 'opened'])
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([0, 0])
  })

  it('end with all their connections when the peer says why', async () => {
    const { clock, low, high } = await pair('ended', { network: { latencyMs: 5 } })
    connect(low, high, dialledByEverybody)
    connect(high, low, dialledByEverybody)
    clock.advanceBy(100)
    low.links.disconnect(high.identity.nodeId, 'UNUSED', '')
    clock.advanceBy(100)
    expect([low.log, high.log]).toEqual([0, 1].map(() => ['opened', 'closed UNUSED']))
    expect([openOf(low), openOf(high)].map(({ length }) => length)).toEqual([0, 0])
  })
})

/** Keeps a link as a node does: a lost or failed one is asked for again a while later. */
function keepTrying(node: TestNode, peer: TestNode, clock: VirtualClock): void {
  const again = () => clock.schedule(1000, () => connect(node, peer, dialledByEverybody))
  const { events } = node.links
  node.links.events = {
    ...events,
    onClosed(peerId, reason) {
      events.onClosed(peerId, reason)
      again()
    },
    onFailed(peerId, error) {
      events.onFailed(peerId, error)
      again()
    },
  }
  connect(node, peer, dialledByEverybody)
}

describe('Links under any interleaving', () => {
  const seeds = Array.from({ length: 150 }, (_, index) => index)
  it.each(seeds)('come to one connection, the same on both sides (seed %i)', async (seed) => {
    const random = seededRandom(`links ${seed}`)
    const { clock, network, low, high } = await pair(`any ${seed}`, {
      network: {
        latencyMs: 1 + 20 * random.next(),
        jitterMs: 10 * random.next(),
        connectFailureRate: 0.2 * random.next(),
      },
    })
    for (let step = 0; step < 40; step++) {
      const [node, peer] = random.next() < 0.5 ? [low, high] : [high, low]
      const chance = random.next()
      if (chance < 0.55) connect(node, peer, dialledByEverybody)
      else if (chance < 0.75) node.links.disconnect(peer.identity.nodeId, 'UNUSED', '')
      else if (chance < 0.85) network.breakLinks(node.identity.nodeId)
      else network.setOnline(node.identity.nodeId, random.next() < 0.5)
      clock.advanceBy(random.next() < 0.8 ? 30 * random.next() : 20_000 * random.next())
    }
    for (const node of [low, high]) network.setOnline(node.identity.nodeId, true)
    keepTrying(low, high, clock)
    keepTrying(high, low, clock)
    clock.advanceBy(300_000)

    for (const node of [low, high]) {
      const links = node.log.filter((entry) => !entry.startsWith('failed'))
      links.forEach((entry, index) => expect(entry.split(' ')[0]).toBe(index % 2 === 0 ? 'opened' : 'closed'))
      expect(node.log.at(-1)).toBe('opened')
      node.log.forEach((entry, index) => {
        if (!entry.startsWith('failed')) return
        const before = node.log.slice(0, index).findLast((other) => !other.startsWith('failed'))
        expect(before ?? 'closed').toMatch(/^closed/)
      })
      expect(openOf(node)).toHaveLength(1)
    }
    const [ofLow, ofHigh] = [openOf(low)[0], openOf(high)[0]]
    expect(low.links.peers.get(high.identity.nodeId)).toBe(ofLow)
    expect(high.links.peers.get(low.identity.nodeId)).toBe(ofHigh)
    expect(new Set([ofLow?.direction, ofHigh?.direction]).size).toBe(2)
    low.received.length = 0
    high.received.length = 0
    expect(low.links.send(high.identity.nodeId, numbered(1))).toBe(true)
    expect(high.links.send(low.identity.nodeId, numbered(2))).toBe(true)
    clock.advanceBy(1000)
    expect([high.received, low.received]).toEqual([[1], [2]])
  })
})
