import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { processClock } from './process-clock.ts'

it('begins with its process, and goes on as the clock of the world does', () => {
  const world = new VirtualClock()
  world.advanceBy(1_234)
  const clock = processClock(world)
  const due: number[] = []
  clock.schedule(500, () => due.push(clock.monotonicMs()))
  expect(clock.monotonicMs()).toBe(0)
  world.advanceBy(1_000)
  expect([clock.monotonicMs(), due]).toEqual([1_000, [500]])
  expect(clock.now()).toBe(world.now())
})
