import type { DelegationRef, NodeId } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crypto, userOf, World, type TestUser } from '../encryption/world.testkit.ts'
import { delegationOf } from '../registry/delegations.testkit.ts'
import { SideParts } from '../side/side-part.ts'
import { Group } from './group.ts'
import { goodbyeBytes, groupBytes, groupChain } from './group-message.ts'
import { readerLimits } from './limits.ts'

const { groupHelloMs, groupSilentMs, groupIntervalMs, maxGroupMembers } = readerLimits
const user: TestUser = await userOf('somebody')
const stranger: TestUser = await userOf('stranger')
const readerId = new Uint8Array(16).fill(1)
const nodeId = (i: number) => `0x${String(i).padStart(40, '0')}` as NodeId

interface TestMember {
  readonly group: Group
  readonly sides: SideParts
  readonly changes: (readonly [others: number, isLess: boolean])[]
}

let world: World
let members: TestMember[]
let ending: AbortController
/** What is published now nobody hears. */
let isCutOff = false
beforeEach(() => {
  world = new World()
  members = []
  ending = new AbortController()
})
afterEach(() => ending.abort())

function sidesOf(owner: TestUser): SideParts {
  const process = world.start(owner)
  return new SideParts({
    node: {
      publish: (batch) => {
        world.publish(process, batch)
        const message = world.records.at(-1)?.message
        if (message !== undefined && !isCutOff) for (const { sides } of members) sides.receive(message)
        return true
      },
      waitForNeighbours: async () => {},
      delegations: { get: () => delegationOf({ reads: false }) },
    },
    parts: { join: () => () => {}, neighbourCount: () => 1 },
    user: { userId: owner.userId, signer: owner.identity },
    ...{ crypto, clock: world.clock },
  })
}

function member(i: number, owner = user): TestMember {
  const sides = sidesOf(owner)
  const changes: [number, boolean][] = []
  const group = new Group(readerId, {
    ...{ clock: world.clock, userId: owner.userId, nodeId: nodeId(i), side: sides.open(world.stream) },
    onChange: (others, isLess) => changes.push([others.length, isLess]),
  })
  const made = { group, sides, changes }
  members.push(made)
  return made
}

/** Lets it say hello and listen. */
async function join(...joining: readonly TestMember[]): Promise<void> {
  const joined = Promise.all(joining.map(({ group }) => group.join(ending.signal)))
  for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  world.clock.advanceBy(groupHelloMs)
  await joined
  world.clock.advanceBy(readerLimits.minGroupGapMs)
}

describe('a group', () => {
  it('knows its members, and gives each a slot of its own', async () => {
    const [a, b, c] = [member(1), member(2), member(3)]
    await join(a)
    await join(b, c)
    world.clock.advanceBy(groupIntervalMs)
    expect([a, b, c].map(({ group }) => group.others.length)).toEqual([2, 2, 2])
    expect([a, b, c].map(({ group }) => group.slot).sort()).toEqual([0, 1, 2])
    expect(a.group.slot).toBe(0)
    expect(a.changes).toEqual([
      [1, false],
      [2, false],
    ])
  })

  it('notices a goodbye at once, and silence after a while', async () => {
    const [a, b, c] = [member(1), member(2), member(3)]
    await join(a, b, c)
    b.group.close()
    b.group.close()
    expect(a.changes.at(-1)).toEqual([1, true])
    isCutOff = true
    c.group.close()
    isCutOff = false
    world.clock.advanceBy(groupSilentMs - groupIntervalMs)
    expect(a.group.others).toHaveLength(1)
    world.clock.advanceBy(groupIntervalMs)
    expect(a.group.others).toEqual([])
    expect(a.changes.at(-1)).toEqual([0, true])
  })

  it('has room for so many, and refuses the next', async () => {
    const all = Array.from({ length: maxGroupMembers }, (_, i) => member(i + 1))
    await join(...all)
    world.clock.advanceBy(groupIntervalMs)
    expect(new Set(all.map(({ group }) => group.slot)).size).toBe(maxGroupMembers)
    await expect(join(member(99))).rejects.toMatchObject({ code: 'READER_GROUP_FULL' })
  })

  it('takes nothing from other users, of other readers, or that is none', async () => {
    const a = member(1)
    await join(a)
    member(2, stranger)
      .group.join(ending.signal)
      .catch(() => {})
    const side = sidesOf(user).open(world.stream)
    const other = new Uint8Array(16).fill(2)
    for (const bytes of [
      groupBytes(other, 1),
      groupBytes(readerId, 16),
      groupBytes(readerId.slice(1), 1),
      Uint8Array.of(7),
      goodbyeBytes(readerId),
    ])
      side.publish(groupChain(nodeId(5)), bytes)
    side.publish('~gxx', groupBytes(readerId, 1))
    side.publish(groupChain(nodeId(6)), groupBytes(other, 1))
    const sensors = world.records.at(-1)?.message ?? expect.fail()
    const delegationRef = '1'.repeat(64) as DelegationRef
    const content = Uint8Array.of(0, ...groupBytes(readerId, 1))
    a.sides.receive({ ...sensors, delegationRef, content })
    expect([a.group.others, a.changes]).toEqual([[], []])
    world.clock.advanceBy(2 * readerLimits.minGroupGapMs)
    side.publish(groupChain(nodeId(5)), groupBytes(readerId, 3))
    expect(a.group.others).toEqual([nodeId(5)])
  })
})
