import { expect, it } from 'vitest'
import { fuzz } from './fuzz.testkit.ts'

it('mutated packets end their connection with a reason, or are taken', { timeout: 120_000 }, async () => {
  const { packets, refused, open, faults } = await fuzz(20_000, 'mqtt')
  expect(faults).toEqual([])
  expect(packets).toBeGreaterThanOrEqual(20_000)
  // Most are wrong, and some are good by chance: else the mutations would be too wild to get past the first check.
  expect(refused).toBeGreaterThan(1_000)
  expect(open).toBeGreaterThan(100)
})
