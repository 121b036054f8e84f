import { expect, it } from 'vitest'
import { argsWith } from './arguments.testkit.ts'
import { requestOf } from './request.ts'

const shape = { title: 'pubsub', subscribes: true, publishes: true }

it('measures from the first message where there is no warm-up', () => {
  expect(requestOf(argsWith({ warmup: '0s' }), shape).times.warmupMs).toBe(0)
  expect(() => requestOf(argsWith({ duration: '0s' }), shape)).toThrow('--duration takes a duration')
})

it.each([Number.NaN, -1, 1.5, 2 ** 32])('refuses the number of run %d', (runId) => {
  expect(() => requestOf(argsWith({}), { ...shape, runId })).toThrow('--run takes a whole number')
})
