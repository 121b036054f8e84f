import { expect, it } from 'vitest'
import { nodeIdFromBytes, toNodeId, type NodeId } from '../ids/node-id.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { cardHolders } from './card-holders.ts'

const random = seededRandom('cards')
const nodeIds = (count: number): NodeId[] =>
  Array.from({ length: count }, () => nodeIdFromBytes(random.bytes(20)))

it('are the same whoever computes them', () => {
  const ids = [...'123456'].map((digit) => toNodeId(`0x${digit.repeat(40)}`))
  const users = [...'ab'].map((digit) => toNodeId(`0x${digit.repeat(40)}`))
  const digits = users.map((user) =>
    cardHolders(user, ids.toReversed())
      .map((id) => id[2])
      .join(''),
  )
  expect(digits).toEqual(['312', '452'])
})

it('are three, or as many as there are, and spread over all', () => {
  const ids = nodeIds(10)
  const [user] = nodeIds(1) as [NodeId]
  expect(cardHolders(user, ids)).toHaveLength(3)
  expect(cardHolders(user, ids.slice(0, 2)).toSorted()).toEqual(ids.slice(0, 2).toSorted())
  expect(cardHolders(user, [])).toEqual([])
  const held = Map.groupBy(
    nodeIds(2_000).flatMap((id) => cardHolders(id, ids)),
    (id) => id,
  )
  for (const id of ids) expect(held.get(id)?.length).toBeGreaterThan(400)
})

it('stay but for those of a storage node that goes', () => {
  const ids = nodeIds(8)
  const [gone] = ids
  for (const user of nodeIds(200)) {
    const before = cardHolders(user, ids)
    const after = cardHolders(user, ids.slice(1))
    expect(before.filter((id) => id !== gone).every((id) => after.includes(id))).toBe(true)
  }
})
