import { keyPartition, toStreamId, type DelegationRef } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { crypto, userOf, World, type TestUser } from '../encryption/world.testkit.ts'
import { delegationOf } from '../registry/delegations.testkit.ts'
import { sideMessageIn, SideParts, SideTimes, type SideMessage, type SidePart } from './side-part.ts'

const user: TestUser = await userOf('somebody')
const [readsRef, publishesRef, unknownRef] = ['1', '2', '3'].map((it) => it.repeat(64)) as DelegationRef[]

let world: World
let joined: number
let sides: SideParts
let part: SidePart
let heard: SideMessage[]
beforeEach(() => {
  world = new World()
  joined = 0
  heard = []
  const process = world.start(user)
  sides = new SideParts({
    node: {
      publish: (batch) => (world.publish(process, batch), true),
      waitForNeighbours: async (_, { signal } = {}) => signal?.throwIfAborted(),
      delegations: {
        get: (ref) => (ref === unknownRef ? undefined : delegationOf({ reads: ref === readsRef })),
      },
    },
    parts: { join: () => (joined++, () => joined--), neighbourCount: () => 0 },
    user: { userId: user.userId, signer: user.identity },
    ...{ crypto, clock: world.clock },
  })
  part = sides.open(world.stream)
})
const contentOf = ({ content }: SideMessage) => Buffer.from(content).toString()
const lastMessage = () => world.records.at(-1)?.message ?? expect.fail()
const bytes = (text: string) => new Uint8Array(Buffer.from(text))

describe('what is beside the messages of a stream', () => {
  it('is in the key part, joined once for each use until it is left', () => {
    part.publish('~p1', bytes('a'))
    part.publish('~p1', bytes('b'))
    expect(lastMessage()).toMatchObject({ partition: keyPartition, messageChainId: '~p1' })
    expect(joined).toBe(1)
    sides.open(world.stream).join()
    expect(joined).toBe(2)
    part.leave()
    part.leave()
    expect(joined).toBe(1)
  })

  it('is waited in for a neighbour until that is aborted', async () => {
    await expect(part.waitForNeighbour(new AbortController().signal)).resolves.toBe(false)
    await expect(part.waitForNeighbour(AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('is heard by the beginning of its chain, in its stream, until nobody wants it', () => {
    const stop = part.on('~r', (message) => heard.push(message))
    for (const chain of ['~r1', '~p1', '@r1', '~r2']) {
      part.publish(chain, bytes(chain))
      sides.receive(lastMessage())
    }
    expect(heard.map(contentOf)).toEqual(['~r1', '~r2'])
    sides.receive({ ...lastMessage(), streamId: toStreamId(`${user.userId}/other`) })
    sides.receive({ ...lastMessage(), partition: 0 })
    stop()
    sides.receive(lastMessage())
    sides.close(part)
    sides.receive(lastMessage())
    expect(heard).toHaveLength(2)
  })

  it('has the time that it is once a clock is set right that was ahead: others would refuse a later one', () => {
    const [times, hourMs] = [new SideTimes(), 3_600_000]
    const ahead = times.next(2 * hourMs)
    expect(times.next(hourMs, { timestamp: ahead, sequenceNumber: 0 })).toBe(hourMs)
    expect(times.next(hourMs - 1)).toBe(hourMs + 1)
  })

  it('has each time later than the one before, and than what it follows', () => {
    const places = [part.publish('~p', bytes('')), part.publish('~r', bytes(''))]
    const nowMs = world.clock.now()
    expect(places.map(({ timestamp }) => timestamp)).toEqual([nowMs, nowMs + 1])
    const after = { timestamp: nowMs + 1_000, sequenceNumber: 3 }
    expect(part.publish('@c', bytes(''), { after, sequenceNumber: 7 })).toMatchObject({
      ...{ timestamp: nowMs + 1_001, sequenceNumber: 7 },
    })
    expect(lastMessage()).toMatchObject({ previous: undefined, sequenceNumber: 7 })
  })

  it('is of a reader where its publisher signed it, or a delegate that may read', () => {
    part.publish('~g', bytes(''))
    const message = sideMessageIn(lastMessage()) ?? expect.fail()
    expect(part.isOfReader(message)).toBe(true)
    expect(part.isOfReader({ ...message, delegationRef: readsRef })).toBe(true)
    expect(part.isOfReader({ ...message, delegationRef: publishesRef })).toBe(false)
    expect(part.isOfReader({ ...message, delegationRef: unknownRef })).toBe(false)
  })

  it('is no key record to a client that knows of nothing else, and not heard when it is one', () => {
    part.on('~', (message) => heard.push(message))
    part.publish('~p', bytes('x'))
    const message = lastMessage()
    expect(message.content[0]).toBe(0)
    expect(sideMessageIn(message)?.content).toEqual(bytes('x'))
    expect(sideMessageIn({ ...message, partition: 0 })).toBeUndefined()
    sides.receive({ ...message, content: Uint8Array.of(5, ...message.content) })
    sides.receive({ ...message, content: new Uint8Array() })
    expect(heard).toEqual([])
  })
})
