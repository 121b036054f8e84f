import { describe, expect, it } from 'vitest'
import { optionsOf } from './experiment-command.ts'

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
