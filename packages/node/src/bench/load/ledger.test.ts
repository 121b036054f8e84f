import { expect, it } from 'vitest'
import type { Stamp } from '../core/stamp.ts'
import { Ledger } from './ledger.ts'

const stamp = (over: Partial<Stamp>): Stamp => ({
  ...{ runId: 1, sender: 7, user: 0, flow: 0, count: 0, intendedMs: 0 },
  ...over,
})

it('follows the messages of each publisher at each reader', () => {
  const ledger = new Ledger()
  expect(ledger.take(1, stamp({}))).toBe(true)
  expect(ledger.take(2, stamp({}))).toBe(true)
  expect(ledger.take(1, stamp({}))).toBe(false)
  expect(ledger.counts).toMatchObject({ received: 2, duplicates: 1 })
})

it('tells users of the same number apart, whose benches publish in the same run', () => {
  const ledger = new Ledger()
  expect(ledger.take(1, stamp({ sender: 7 }))).toBe(true)
  expect(ledger.take(1, stamp({ sender: 8 }))).toBe(true)
  expect(ledger.counts).toMatchObject({ received: 2, duplicates: 0 })
})
