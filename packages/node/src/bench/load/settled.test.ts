import { describe, expect, it } from 'vitest'
import type { LoadPlan } from '../core/plan.ts'
import { lackingNeighbours } from './settled.ts'

const plan: LoadPlan = {
  ...{
    runId: 1,
    sender: 0,
    kind: 'light',
    links: 'websocket',
    floods: 'thin',
    clients: 12,
    publishersPerPart: 1,
    subscribes: true,
  },
  ...{ history: 0, connectPerS: 10, degree: 4, flows: [] },
  parts: [0, 1].map((partition) => ({ streamId: '0x/s', partition })),
}

const users = (neighbours: readonly (readonly [has: number, wants: number] | undefined)[]) =>
  neighbours.map((counts, number) => ({
    role: { number, part: number % 2, publishes: true },
    user: { neighbours: () => Promise.resolve(counts && { has: counts[0], wants: counts[1] }) },
  }))

describe('lackingNeighbours', () => {
  it('is content with as many as the tracker wants and the degree says', async () => {
    expect(
      await lackingNeighbours(
        plan,
        users([
          [4, 4],
          [5, 4],
        ]),
      ),
    ).toEqual([])
    expect(await lackingNeighbours(plan, users([undefined, undefined]))).toEqual([])
  })

  it('names who lacks some, also where the tracker has not said yet', async () => {
    expect(
      await lackingNeighbours(
        plan,
        users([
          [2, 4],
          [4, 4],
        ]),
      ),
    ).toEqual(['user 0 has 2 of 4 neighbours'])
    expect(
      await lackingNeighbours(
        plan,
        users([
          [1, 1],
          [4, 4],
        ]),
      ),
    ).toEqual(['user 0 has 1 of 4 neighbours'])
  })

  it('allows one in each overlay a neighbour too few, as odd numbers make it', async () => {
    expect(
      await lackingNeighbours(
        plan,
        users([
          [3, 4],
          [3, 4],
          [4, 4],
          [4, 4],
        ]),
      ),
    ).toEqual([])
    expect(
      await lackingNeighbours(
        plan,
        users([
          [3, 4],
          [4, 4],
          [3, 4],
        ]),
      ),
    ).toHaveLength(2)
  })

  it('does not name all', async () => {
    const lacking = await lackingNeighbours(plan, users(Array.from({ length: 12 }, () => [0, 4] as const)))
    expect(lacking).toHaveLength(6)
    expect(lacking.at(-1)).toBe('7 more')
  })
})
