import { expect, it } from 'vitest'
import { createLatencyModel } from '../latency/latency-model.ts'
import { runViewers } from './viewers.ts'

it('sound and pictures of one sender come to all others', async () => {
  const model = createLatencyModel({ latency: 'aws', nodes: 20, seed: '1' })
  const options = { seed: '1', degree: 4, overlay: 'random', model, seconds: 2 } as const
  const { kinds, copies, jitterMs } = await runViewers(options, () => {})
  expect(kinds.map(({ kind }) => kind).sort()).toEqual(['base', 'middle', 'sound', 'top'])
  for (const { kind, expected, arrived, maxMs } of kinds) {
    // The first picture is more than links are taken to carry of which nothing is known.
    expect([kind, arrived / expected > 0.85]).toEqual([kind, true])
    expect(maxMs).toBeLessThan(1_000)
  }
  expect(kinds.reduce((sum, { expected }) => sum + expected, 0)).toBe(19 * (100 + 60))
  // Two of sound, one of pictures, and three of the first of both.
  expect(copies).toBeLessThan(2)
  expect(jitterMs).toBeLessThan(5)
})

it('comes to light nodes through two others each', async () => {
  const model = createLatencyModel({ latency: 'aws', nodes: 20, seed: '1' })
  const options = { seed: '1', degree: 4, overlay: 'random', model, seconds: 2, light: 12 } as const
  const { kinds, copies, sentOn } = await runViewers(options, () => {})
  const sound = kinds.find(({ kind }) => kind === 'sound')
  expect(sound).toMatchObject({ expected: 19 * 100, arrived: 19 * 100 })
  for (const { kind, expected, arrived } of kinds)
    expect([kind, arrived / expected > 0.85]).toEqual([kind, true])
  expect(copies).toBeLessThan(2.2)
  // Seven hosts bring twelve guests what they need.
  expect(sentOn.most).toBeGreaterThan(2)
})
