import { describe, expect, it } from 'vitest'
import { simError } from '../errors.ts'
import { attack } from './attack.ts'
import { churn } from './churn.ts'
import { copies } from './copies.ts'
import type { ExperimentOptions } from './experiment.ts'
import { fairness } from './fairness.ts'
import { propagation } from './propagation.ts'
import { scale, scaleModel } from './scale.ts'
import { lightViewers, viewers } from './viewers.ts'

const options: ExperimentOptions = {
  nodes: 24,
  degree: 4,
  overlay: 'random',
  latency: 'aws',
  seed: '1',
  repeats: 1,
}

/** In virtual seconds: messages are on their way by then, or what else is measured goes on. */
const stages = [
  { experiment: churn, second: 30, says: '1 % a minute (1 of 7)' },
  { experiment: copies, second: 45, says: '1/s (1 of 5), full' },
  { experiment: attack, second: 30, says: 'hub (1 of 6)' },
  { experiment: fairness, second: 181, says: '1 of 1, honest' },
  { experiment: propagation, second: 25, says: '24 nodes, run 1 of 1' },
  { experiment: viewers, second: 32, says: '' },
  { experiment: lightViewers, second: 40, says: '' },
  { experiment: scale, second: 15, says: '24 nodes' },
  { experiment: scaleModel, second: 15, says: '24 nodes' },
]

describe.each(stages)('$experiment.name', ({ experiment, second, says }) => {
  it('can be ended at any time, and says how far it was', async () => {
    const bound = (text: string): void => {
      const [, at] = /second (\d+)$/.exec(text) ?? []
      if (Number(at) >= second) throw simError('TOO_SLOW', text)
    }
    const error = await experiment.run(options, bound).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'TOO_SLOW', message: expect.stringContaining(says) as string })
    const [, at] = /second (\d+)/.exec(String(error)) ?? []
    expect(Number(at)).toBeLessThan(second + 5)
  })
})
