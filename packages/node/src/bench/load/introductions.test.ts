import { expect, it } from 'vitest'
import type { LoadPlan } from '../core/plan.ts'
import { Introductions } from './introductions.ts'

const plan = { runId: 1, clients: 4, parts: [{}, {}], publishersPerPart: 2 } as unknown as LoadPlan
const roles = [
  { number: 0, part: 0, publishes: true },
  { number: 1, part: 1, publishes: false },
]

it('knows who has not heard of whom', () => {
  const introductions = new Introductions()
  expect(introductions.lacking(plan, roles)).toEqual([
    'user 0 has heard of 0 of 1 publishers',
    'user 1 has heard of 0 of 2 publishers',
  ])
  for (const [reader, user] of [
    [0, 2],
    [1, 3],
    [1, 3],
    [1, 1],
    [1, 99],
  ] as const)
    expect(introductions.take(plan, reader, Introductions.stampOf(plan, user))).toBe(true)
  expect(introductions.lacking(plan, roles)).toEqual([])
})

it('leaves messages of the run alone', () => {
  const message = { ...Introductions.stampOf(plan, 2), flow: 0 }
  expect(new Introductions().take(plan, 0, message)).toBe(false)
})
