import { expect, it } from 'vitest'
import type { ExperimentOptions } from './experiment.ts'
import { delays } from './delays.ts'
import { longestMinutes } from './longest.ts'
import { loss } from './loss.ts'
import { propagation } from './propagation.ts'

const usual: Omit<ExperimentOptions, 'nodes'> = {
  ...{ degree: undefined, overlay: 'random', links: undefined, repeats: undefined, messages: undefined },
  ...{ warmUp: undefined, rate: undefined, dilation: undefined },
}
const minutes = (
  experiment: typeof loss,
  options: Partial<ExperimentOptions> = {},
  place: 'namespaces' | 'loopback' = 'namespaces',
  sizes: readonly (number | undefined)[] = [undefined],
) => longestMinutes(experiment, { ...usual, ...options }, { sizes, place })

it('follows from what an experiment runs', () => {
  const small = { links: 'webrtc', losses: [1], messages: 30 } as const
  expect([minutes(propagation), minutes(propagation, { repeats: 10 })]).toEqual([8, 24])
  expect([minutes(loss, small), minutes(loss)]).toEqual([10, 92])
  // Sizes follow each other, as do kinds of links and of floods, repeats and losses; time goes slower.
  expect(minutes(propagation, {}, 'namespaces', [16, 16])).toBeGreaterThan(minutes(propagation))
  expect(minutes(loss, { ...small, links: undefined })).toBeGreaterThan(minutes(loss, small))
  expect(minutes(loss, { ...small, floods: ['thin', 'full'] })).toBeGreaterThan(minutes(loss, small))
  expect(minutes(loss, { ...small, repeats: 2 })).toBeGreaterThan(minutes(loss, small))
  expect(minutes(loss, { ...small, losses: [1, 5] })).toBeGreaterThan(minutes(loss, small))
  expect(minutes(loss, { ...small, dilation: 4 })).toBeGreaterThan(3 * minutes(loss, small))
})

it('counts what is not done as little', () => {
  expect(minutes(loss, { fixed: true })).toBeLessThan(minutes(loss))
  expect(minutes(loss, { warmUp: 0 })).toBeLessThan(minutes(loss))
  // Nothing is lost there, so only one of all losses is run.
  expect(minutes(loss, {}, 'loopback')).toBe(minutes(loss, { losses: [0] }))
})

it('is of no more than a week, and as ever where an experiment does not say', () => {
  expect(minutes(loss, { repeats: 1_000 })).toBe(10_080)
  expect(minutes(delays)).toBe(720)
})
