import type { NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Share, type Spread } from './share.ts'

const members = [1, 2, 3, 4].map((i) => `0x${String(i).repeat(40)}` as NodeId)
const messages = Array.from({ length: 2_000 }, (_, i) => ({
  ...{ timestamp: i, sequenceNumber: 0, partition: i % 3, key: i % 2 === 0 ? undefined : `key ${i % 100}` },
  tag: `chain ${i % 50}`,
}))
type TestMessage = (typeof messages)[number]

/** Whose each message is, with these members. */
function owners(there: readonly NodeId[], spread: Spread): (NodeId | undefined)[] {
  const shares = there.map((self) => {
    const share = new Share(self, spread)
    share.others = there.filter((other) => other !== self)
    return { self, isMine: (message: TestMessage) => share.isMine(message, message.tag) }
  })
  return messages.map((message) => {
    const mine = shares.filter(({ isMine }) => isMine(message))
    expect(mine).toHaveLength(1)
    return mine[0]?.self
  })
}

describe.each(['chain', 'message'] as const)('shares by %s', (spread) => {
  it('are each message for exactly one, and something for everybody', () => {
    expect(new Set(owners(members, spread)).size).toBe(members.length)
  })

  it('move only what was with who went', () => {
    const [before, after] = [owners(members, spread), owners(members.slice(1), spread)]
    before.forEach((owner, i) => {
      if (owner !== members[0]) expect(after[i]).toBe(owner)
    })
  })
})

it('what belongs together goes to one member: a key, or a chain without keys', () => {
  const owner = owners(members, 'chain')
  const units = Map.groupBy(messages.keys(), (i) => {
    const { partition, key, tag } = messages[i] ?? expect.fail()
    return key === undefined ? tag : `${partition} ${key}`
  })
  for (const indices of units.values()) expect(new Set(indices.map((i) => owner[i])).size).toBe(1)
})
