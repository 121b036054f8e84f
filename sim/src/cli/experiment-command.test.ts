import { describe, expect, it } from 'vitest'
import { attack } from '../experiments/attack.ts'
import { churn } from '../experiments/churn.ts'
import { compare } from '../experiments/compare.ts'
import { diameter } from '../experiments/diameter.ts'
import { matrix } from '../experiments/matrix.ts'
import { propagation } from '../experiments/propagation.ts'
import { scale } from '../experiments/scale.ts'
import { experimentCommand, optionsOf } from './experiment-command.ts'

const given = {
  nodes: undefined,
  degree: undefined,
  overlay: 'random',
  latency: 'aws',
  seed: '1',
  repeats: undefined,
}

describe('optionsOf', () => {
  it('takes what is right', () => {
    expect(optionsOf({ ...given, nodes: 64, degree: 4, repeats: 2 })).toMatchObject({ nodes: 64, degree: 4 })
  })

  it.each([
    { nodes: 1 },
    { nodes: NaN },
    { nodes: 1.5 },
    { nodes: 1e9 },
    { degree: 2 },
    { repeats: 0 },
    { overlay: 'other' },
    { latency: '' },
  ])('refuses %j', (wrong) => {
    expect(() => optionsOf({ ...given, ...wrong })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})

describe('experimentCommand', () => {
  const common = ['overlay', 'latency', 'repeats']

  it.each([
    [propagation, common],
    [matrix, ['repeats']],
    [diameter, ['repeats']],
    [compare, ['repeats']],
    [churn, ['overlay', 'latency']],
    [attack, ['overlay', 'latency']],
  ])('takes no option that would change nothing: %o', (experiment, taken) => {
    const builder = Object.keys(experimentCommand(experiment).builder ?? {})
    expect(builder.filter((name) => common.includes(name))).toEqual(taken)
  })
})

it('bounds a run of few nodes sooner than one of many', () => {
  expect([3, 2_048, 1_000_000, undefined].map((nodes) => scale.minutes?.(nodes))).toEqual([
    11, 31, 1_440, 1_440,
  ])
})
