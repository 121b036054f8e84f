import { decodeCursor, encodeCursor, type MessageRef, type ReaderCursor } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReaderCore, type ChainPlace } from './reader-core.ts'
import { Share } from './share.ts'

interface TestMessage extends ChainPlace {
  readonly tag: string
  readonly partition: number
  readonly key: string | undefined
}

const options = {
  ackWaitMs: 100,
  maxInFlight: 1_000,
  maxDeliveries: Infinity,
  maxChains: 1_000,
  maxRanges: 1_000,
}
const begin: ReaderCursor = { generation: 0, floorMs: 0, chains: [] }
const tags = ['AAAAAAAAAAAAAAAA', 'AAAAAAAAAAAAAAAB', 'AAAAAAAAAAAAAAAC']
const nameOf = ({ tag, timestamp }: TestMessage) => `${tag} ${timestamp}`

/** Messages of a few chains, one millisecond after the other. */
function chains(count: number): TestMessage[] {
  const last = new Map<string, MessageRef>()
  return Array.from({ length: count }, (_, i) => {
    const tag = tags[(i * 7) % tags.length] ?? ''
    const place = { timestamp: 1_000 + i, sequenceNumber: 0 }
    const message = { ...place, tag, previous: last.get(tag), partition: 0, key: undefined }
    last.set(tag, place)
    return message
  })
}

const core = (cursor = begin, changed: Partial<typeof options> = {}, isMine = () => true) =>
  new ReaderCore<TestMessage>(cursor, { ...options, ...changed }, { isMine })

describe('what a reader has to do', () => {
  it('gives a message once, and again when its time is over, until it is acknowledged', () => {
    const reader = core()
    const [message] = chains(1)
    if (message === undefined) return expect.fail()
    expect([reader.offer(message, message.tag), reader.offer(message, message.tag)]).toEqual([true, false])
    const first = reader.take(0) ?? expect.fail()
    expect([reader.take(0), reader.expire(99).redelivered]).toEqual([undefined, []])
    expect(reader.dueMs).toBe(100)
    expect(reader.expire(100).redelivered).toEqual([first])
    expect(reader.take(100)?.deliveries).toBe(2)
    reader.acknowledge(first)
    reader.acknowledge(first)
    expect(reader.expire(1_000)).toEqual({ redelivered: [], givenUp: [] })
    expect(reader.offer(message, message.tag)).toBe(false)
    expect(reader.counters).toMatchObject({ delivered: 1, redelivered: 1, acknowledged: 1 })
  })

  it('gives up after so many deliveries, and is done with the message then', () => {
    const reader = core(begin, { maxDeliveries: 1 })
    const [message] = chains(1)
    if (message === undefined) return expect.fail()
    reader.offer(message, message.tag)
    const delivery = reader.take(0) ?? expect.fail()
    reader.refuse(delivery, 10)
    expect(reader.expire(10).givenUp).toEqual([delivery])
    expect(reader.inFlight).toBe(0)
    expect(core(reader.cursor().cursor).offer(message, message.tag)).toBe(false)
  })

  it('raises its floor to the oldest message that is not done, and no further', () => {
    const reader = core()
    const all = chains(9)
    for (const message of all) reader.offer(message, message.tag)
    const deliveries = all.map(() => reader.take(0) ?? expect.fail())
    for (const delivery of deliveries) if (delivery.message.timestamp !== 1_004) reader.acknowledge(delivery)
    reader.swept(1_006)
    // What is before it in its chain is 1001, after which nothing of the chain is done.
    expect(reader.floorMs).toBe(1_001)
    reader.acknowledge(deliveries[4] ?? expect.fail())
    reader.swept(1_006)
    expect(reader.floorMs).toBe(1_006)
    expect(reader.cursor().cursor.chains).toHaveLength(3)
  })

  it('raises its floor over what another is done with, of a chain that was quiet since long before the floor', () => {
    const cursor = { generation: 0, floorMs: 5_000, chains: [] }
    const [reader, other] = [core(cursor), core(cursor, {}, () => false)]
    const [tag, previous] = ['AAAAAAAAAAAAAAAD', { timestamp: 1_000, sequenceNumber: 0 }]
    const message = { timestamp: 5_500, sequenceNumber: 0, previous, tag, partition: 0, key: undefined }
    for (const one of [reader, other]) one.offer(message, tag)
    reader.acknowledge(reader.take(0) ?? expect.fail())
    other.join(decodeCursor(encodeCursor(reader.cursor().cursor)))
    for (const one of [reader, other]) {
      expect(one.firstPending()).toBeUndefined()
      one.swept(6_000)
      expect(one.floorMs).toBe(6_000)
    }
  })

  it('takes a message that comes late to a place that nobody had', () => {
    const reader = core()
    const [a, b, c] = chains(9).filter(({ tag }) => tag === tags[0])
    if (a === undefined || b === undefined || c === undefined) return expect.fail()
    for (const message of [a, c]) reader.offer(message, message.tag)
    for (let next = reader.take(0); next !== undefined; next = reader.take(0)) reader.acknowledge(next)
    expect(reader.firstPending()).toBeUndefined()
    expect([reader.knows(b.tag, b), core(reader.cursor().cursor).offer(b, b.tag)]).toEqual([false, true])
    expect(reader.offer(b, b.tag)).toBe(true)
  })

  it('leaves the latest ranges out where a cursor has no room: they would be delivered again', () => {
    const reader = core(begin, { maxRanges: 3 })
    const all = chains(60)
    for (const message of all) reader.offer(message, message.tag)
    for (const { tag } of all) {
      const next = reader.take(0) ?? expect.fail(tag)
      if (next.message.timestamp % 2 === 0) reader.acknowledge(next)
    }
    const { cursor, leftOut } = reader.cursor()
    expect(leftOut).toBeGreaterThan(0)
    expect(cursor.chains.flatMap(({ ranges }) => ranges)).toHaveLength(3)
    const later = core(cursor)
    const again = all.filter((message) => later.offer(message, message.tag))
    // Nothing is missing that was not acknowledged.
    for (const message of all) if (message.timestamp % 2 === 1) expect(again).toContain(message)
  })

  it('forgets chains that it is done with when there are too many, and none with something to do', () => {
    const reader = core(begin, { maxChains: 20 })
    const open = {
      timestamp: 5,
      sequenceNumber: 0,
      previous: undefined,
      tag: 'open',
      partition: 0,
      key: undefined,
    }
    reader.offer(open, open.tag)
    reader.take(0)
    for (let i = 0; i < 100; i++) {
      const message = { ...open, timestamp: 10 + i, tag: `chain ${i}` }
      reader.offer(message, message.tag)
      reader.acknowledge(reader.take(0) ?? expect.fail())
    }
    expect(reader.cursor().cursor.chains.length).toBeLessThanOrEqual(20)
    expect(reader.counters.forgotten).toBeGreaterThanOrEqual(80)
    expect(reader.firstPending()).toEqual({ timestamp: 4, sequenceNumber: 2 ** 32 - 1 })
  })

  it('goes where it is put, and takes nothing of before for done', () => {
    const reader = core()
    const all = chains(3)
    for (const message of all) reader.offer(message, message.tag)
    const delivery = reader.take(0) ?? expect.fail()
    expect(reader.join({ generation: 1, floorMs: 1_002, chains: [] })).toBe('reset')
    expect(reader.join({ generation: 0, floorMs: 5_000, chains: [] })).toBe('joined')
    reader.acknowledge(delivery)
    expect([reader.inFlight, reader.floorMs, reader.take(0)]).toEqual([0, 1_002, undefined])
    expect(all.map((message) => reader.offer(message, message.tag))).toEqual([false, false, true])
  })
})

/** Some members over one storage: what each does is chosen at random. */
type Step =
  | { readonly kind: 'publish' | 'start' | 'crash' | 'leave' | 'hear' }
  | { readonly kind: 'take' | 'acknowledge' | 'store' | 'expire' | 'sweep'; readonly member: number }

const kinds = ['publish', 'publish', 'publish', 'start', 'crash', 'leave', 'hear'] as const
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom(...kinds) }),
    fc.record({
      kind: fc.constantFrom('take', 'take', 'acknowledge', 'acknowledge', 'store', 'expire', 'sweep'),
      member: fc.nat(3),
    }),
  ),
  { maxLength: 120, size: 'max' },
) as fc.Arbitrary<Step[]>

interface TestMember {
  readonly core: ReaderCore<TestMessage>
  readonly share: Share
  readonly id: `0x${string}`
  readonly slot: number
  readonly held: NonNullable<ReturnType<ReaderCore<TestMessage>['take']>>[]
}

class World {
  readonly all = chains(60)
  published = 0
  nowMs = 0
  members: TestMember[] = []
  started = 0
  readonly stored = new Map<number, Uint8Array>()
  readonly acknowledged = new Set<string>()
  /** Acknowledged, in a cursor that is stored. */
  readonly durable = new Set<string>()

  get history(): readonly TestMessage[] {
    return this.all.slice(0, this.published)
  }

  do(step: Step): void {
    const member = 'member' in step ? this.members[step.member % Math.max(1, this.members.length)] : undefined
    if (step.kind === 'publish') this.publish()
    else if (step.kind === 'start') this.start()
    else if (step.kind === 'crash') this.end(false)
    else if (step.kind === 'leave') this.end(true)
    else if (step.kind === 'hear') for (const one of this.members) this.hear(one)
    else if (member === undefined) return
    else if (step.kind === 'take') this.take(member)
    else if (step.kind === 'acknowledge') this.acknowledge(member)
    else if (step.kind === 'store') this.store(member)
    else if (step.kind === 'expire') member.core.expire((this.nowMs += 1_000))
    else member.core.swept(1_000 + this.published - 5)
  }

  publish(): void {
    const message = this.all[this.published]
    if (message === undefined) return
    this.published++
    for (const { core } of this.members) core.offer(message, message.tag)
  }

  start(): void {
    if (this.members.length === 4) return
    const id = `0x${String(this.started++).padStart(40, '0')}` as const
    const slot = [0, 1, 2, 3].find((one) => this.members.every((other) => other.slot !== one)) ?? 0
    const share = new Share(id as never, 'message')
    const isMine = (message: TestMessage) => share.isMine(message, message.tag)
    const member = {
      id,
      slot,
      share,
      held: [],
      core: new ReaderCore<TestMessage>(begin, options, { isMine }),
    }
    this.members.push(member)
    this.hear(member)
    this.regroup()
    this.readAgain(member)
  }

  /** A crash stores nothing more. */
  end(stores: boolean): void {
    const member = this.members.shift()
    if (member === undefined) return
    if (stores) this.store(member)
    this.regroup()
    for (const one of this.members) {
      this.hear(one)
      this.readAgain(one)
    }
  }

  regroup(): void {
    for (const { share, id } of this.members)
      share.others = this.members.filter((other) => other.id !== id).map((other) => other.id as never)
  }

  hear({ core }: TestMember): void {
    for (const bytes of this.stored.values()) core.join(decodeCursor(bytes))
  }

  readAgain({ core }: TestMember): void {
    const from = core.firstPending() ?? { timestamp: core.floorMs, sequenceNumber: 0 }
    for (const message of this.history)
      if (message.timestamp >= Math.min(from.timestamp, core.floorMs || Infinity))
        core.offer(message, message.tag)
  }

  take(member: TestMember): void {
    const delivery = member.core.take(this.nowMs)
    if (delivery === undefined) return
    member.held.push(delivery)
  }

  acknowledge({ core, held }: TestMember): void {
    const delivery = held.shift()
    if (delivery === undefined) return
    core.acknowledge(delivery)
    this.acknowledged.add(nameOf(delivery.message))
  }

  store({ core, slot }: TestMember): void {
    const bytes = encodeCursor(core.cursor().cursor)
    // As in a member that starts in this slot: nothing that is stored is lost.
    this.stored.set(slot, bytes)
    const fresh = new ReaderCore<TestMessage>(begin, options, { isMine: () => true })
    fresh.join(decodeCursor(bytes))
    for (const message of this.history)
      if (!fresh.offer(message, message.tag)) this.durable.add(nameOf(message))
  }
}

describe('members of a reader that come, crash and go', () => {
  it('are given every message at least once, and none that is stored as done to whoever starts', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const world = new World()
        for (const step of all) world.do(step)
        // What a cursor says is done somebody has acknowledged.
        for (const name of world.durable) expect(world.acknowledged).toContain(name)
        // A process that starts then is given the rest, and nothing else.
        world.members = []
        world.start()
        const [last] = world.members
        if (last === undefined) return
        const rest = new Set<string>()
        for (let next = last.core.take(0); next !== undefined; next = last.core.take(0)) {
          rest.add(nameOf(next.message))
          last.core.acknowledge(next)
        }
        for (const message of world.history)
          expect([nameOf(message), rest.has(nameOf(message))]).toEqual([
            nameOf(message),
            !world.durable.has(nameOf(message)),
          ])
        last.core.swept(Infinity)
        expect(last.core.cursor().cursor.chains).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
