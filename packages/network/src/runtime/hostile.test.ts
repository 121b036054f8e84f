import {
  BATCH_VERSION,
  buildBatch,
  encodePacket,
  packetBytes,
  PacketType,
  seededRandom,
  signDelegation,
  toStreamPartId,
  type Packet,
} from '@runnel/protocol'
import type { CloseReason, Connection } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import {
  crypto,
  everybodyMay,
  identityOf,
  neighboursOf,
  partId,
  streamId,
  Swarm,
  TestPublisher,
  type Member,
} from '../network.testkit.ts'

/** Somebody who speaks by hand on an open link to a member of a small swarm. */
class Attacker {
  readonly received: number[] = []
  closed: CloseReason | undefined
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
    connection.events = {
      onPacket: (type) => this.received.push(type),
      onDrain: () => undefined,
      onClose: (reason) => (this.closed = reason),
    }
  }

  send(packet: Packet): void {
    this.raw(encodePacket(packet))
  }

  raw(packet: Uint8Array): void {
    this.#connection.send(packet)
  }

  static async against(swarm: Swarm, victim: Member, name = 'attacker'): Promise<Attacker> {
    const transport = swarm.wire(name)
    await transport.start()
    let attacker: Attacker | undefined
    transport.dial({
      peerId: victim.node.nodeId,
      url: '',
      onOpen: (connection) => (attacker = new Attacker(connection)),
      onFail: (error) => {
        throw error
      },
    })
    swarm.clock.advanceBy(100)
    if (attacker === undefined) throw new Error('no link')
    return attacker
  }
}

const attachTo = (streamPartId = partId): Packet => ({
  type: 'attach',
  streamPartId,
  sinceMs: 30_000,
  heads: [],
})
const dataOf = (batch: Uint8Array): Uint8Array => packetBytes(PacketType.data, batch)

async function besieged(): Promise<{ swarm: Swarm; victim: Member; others: Member[]; attacker: Attacker }> {
  const swarm = new Swarm()
  const [victim, ...others] = await swarm.grow(4)
  if (victim === undefined) throw new Error('no members')
  return { swarm, victim, others, attacker: await Attacker.against(swarm, victim) }
}

/** After the attack the overlay does what it did before. */
function expectUnharmed(swarm: Swarm, victim: Member, others: Member[]): void {
  swarm.clock.advanceBy(20_000)
  expect(neighboursOf(victim)).toHaveLength(3)
  others[0]?.node.publish(new TestPublisher('honest', swarm.clock).next('still here'))
  swarm.clock.advanceBy(200)
  for (const member of [victim, ...others]) expect(member.texts().at(-1)).toBe('still here')
}

describe('a hostile peer', () => {
  it('that sends garbage loses its link, and nobody else does', async () => {
    const random = seededRandom('garbage')
    const { swarm, victim, others } = await besieged()
    for (let i = 0; i < 20; i++) {
      const attacker = await Attacker.against(swarm, victim, `attacker ${i}`)
      const garbage = random.bytes(1 + i * 10)
      garbage[0] = BATCH_VERSION
      attacker.raw(packetBytes(i % 2 === 0 ? PacketType.data : PacketType.attach, garbage))
      swarm.clock.advanceBy(100)
      expect(attacker.closed).toMatchObject({ code: 'MISBEHAVED', remote: true })
    }
    expectUnharmed(swarm, victim, others)
  })

  it('that brings batches of a later version is not heard, and stays: it cannot know', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    attacker.send(attachTo())
    const batch = new TestPublisher('p', swarm.clock).next('from the future')
    batch.bytes[0] = BATCH_VERSION + 1
    for (let i = 0; i < 200; i++) attacker.raw(dataOf(batch.bytes))
    swarm.clock.advanceBy(100)
    expect(attacker.closed).toBeUndefined()
    expect(victim.node.metrics().counters['data.unsupported']).toBe(200)
    expectUnharmed(swarm, victim, others)
  })

  it('that sends packets of a later version, about links or else, is heard as if it had not', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    attacker.send(attachTo())
    for (const type of [0x0f, 0x5f, 0x3f, 0x4f, 0xff]) attacker.raw(packetBytes(type, Uint8Array.of(1, 2)))
    swarm.clock.advanceBy(100)
    expect(attacker.closed).toBeUndefined()
    expect(attacker.received).toContain(PacketType.attach)
    expect(victim.node.metrics().counters['packets.unknown']).toBe(5)
    expectUnharmed(swarm, victim, others)
  })

  it('that sends a tracker’s packets loses its link', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    attacker.send({ type: 'instruction', streamPartId: partId, counter: 1_000, neighbours: [] })
    swarm.clock.advanceBy(100)
    expect(attacker.closed?.code).toBe('MISBEHAVED')
    expectUnharmed(swarm, victim, others)
  })

  it('that forges a message silences nobody, loses its link, and is not let in again for a while', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    attacker.send(attachTo())
    swarm.clock.advanceBy(50)
    const { bytes } = new TestPublisher('victim publisher', swarm.clock).next('forged')
    const place = bytes.length - 40
    bytes[place] = (bytes[place] ?? 0) ^ 1
    attacker.raw(dataOf(bytes))
    swarm.clock.advanceBy(100)
    expect(attacker.closed?.code).toBe('MISBEHAVED')
    const again = await Attacker.against(swarm, victim)
    swarm.clock.advanceBy(100)
    expect(again.closed?.code).toBe('MISBEHAVED')
    const real = new TestPublisher('victim publisher', swarm.clock)
    others[0]?.node.publish(real.next('real'))
    swarm.clock.advanceBy(200)
    for (const member of [victim, ...others]) expect(member.texts()).toEqual(['real'])
    expectUnharmed(swarm, victim, others)
  })

  it('that replays old messages reaches nobody', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    const batch = new TestPublisher('p', swarm.clock).next('once')
    others[0]?.node.publish(batch)
    swarm.clock.advanceBy(200)
    attacker.send(attachTo())
    swarm.clock.advanceBy(50)
    for (let i = 0; i < 50; i++) attacker.raw(dataOf(batch.bytes))
    swarm.clock.advanceBy(200)
    for (const member of [victim, ...others]) expect(member.texts()).toEqual(['once'])
    expect(victim.node.metrics().streamParts[0]?.duplicates).toBeGreaterThanOrEqual(50)
  })

  it('that floods attaches gets one replay and no memory', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    others[0]?.node.publish(new TestPublisher('p', swarm.clock).next('kept'))
    swarm.clock.advanceBy(200)
    for (let i = 0; i < 99; i++) {
      attacker.send(attachTo(toStreamPartId(streamId, 1 + (i % 99))))
      attacker.send(attachTo())
      attacker.send({ type: 'detach', streamPartId: partId, reason: 'left' })
    }
    swarm.clock.advanceBy(500)
    expect(attacker.received.filter((type) => type === PacketType.data)).toHaveLength(1)
    expect(victim.node.streamParts).toEqual([partId])
    expectUnharmed(swarm, victim, others)
  })

  it('that sends data where it is no neighbour is heard by nobody, and let go', async () => {
    const { swarm, victim, others, attacker } = await besieged()
    swarm.clock.advanceBy(6_000)
    const publisher = new TestPublisher('p', swarm.clock)
    for (let i = 0; i < 101; i++) attacker.raw(dataOf(publisher.next(`uninvited ${i}`, i % 2).bytes))
    swarm.clock.advanceBy(200)
    expect(attacker.closed?.code).toBe('MISBEHAVED')
    expect(victim.deliveries).toEqual([])
    expectUnharmed(swarm, victim, others)
  })

  it('cannot take the place of another: who answers with another id is no neighbour', async () => {
    const swarm = new Swarm()
    await swarm.trackerTransport.start()
    swarm.tracker.instructing = false
    const { node } = swarm.make('alone')
    await node.start()
    node.join(partId)
    swarm.clock.advanceBy(100)
    const absent = identityOf('absent').nodeId
    const contact = { addresses: [{ kind: 'memory', text: 'memory://absent' }], dials: ['memory'] }
    const neighbours = [{ nodeId: absent, contact }]
    swarm.tracker.send(node.nodeId, { type: 'instruction', streamPartId: partId, counter: 1, neighbours })
    swarm.clock.advanceBy(20_000)
    const failures = swarm.tracker.statuses.flatMap(({ status }) => status.failed)
    expect(failures[0]?.nodeId).toBe(absent)
    expect(node.metrics().streamParts[0]?.neighbours).toEqual([])
  })
})

it('A node that was told another chain keeps its neighbours, who forward what is signed under delegations', async () => {
  const swarm = new Swarm()
  const others = await swarm.grow(3)
  const acting = { chainId: 5, credential: () => undefined, onChange: () => () => {} }
  const misled = swarm.make('misled', {}, everybodyMay, swarm.clock, { acting })
  await misled.node.start()
  misled.node.join(partId)
  swarm.clock.advanceBy(5_000)
  const [user, delegate] = [identityOf('user'), identityOf('delegate')]
  const nowMs = swarm.clock.now()
  const claim = { chainId: 0, userId: user.nodeId, delegateId: delegate.nodeId, fromMs: nowMs, block: 0 }
  const rights = { untilMs: nowMs + 60_000, publishes: true, reads: true, streams: [], requester: '' }
  const delegation = signDelegation({ ...claim, ...rights }, crypto, user)
  const [first] = others
  const ref = first?.node.delegations.add(delegation)
  const message = { timestamp: nowMs, sequenceNumber: 0, previous: undefined, contentType: 2 }
  const content = new TextEncoder().encode('by a delegate')
  const batch = buildBatch(
    {
      chain: { streamId, partition: 0, publisherId: user.nodeId, messageChainId: 'c' },
      messages: [{ ...message, encryptionType: 0, groupKeyId: '', content }],
    },
    crypto,
    { sign: delegate.sign, delegationRef: ref },
  )
  first?.node.publish(batch)
  swarm.clock.advanceBy(1_000)
  for (const member of others) expect(member.texts()).toEqual(['by a delegate'])
  const { counters } = misled.node.metrics()
  expect(counters).toMatchObject({ 'data.forged': 0, 'peers.misbehaved': 0 })
  expect(counters['data.delegationOtherChain']).toBeGreaterThan(0)
  expect(misled.texts()).toEqual([])
  expectUnharmed(swarm, misled, others)
})
