import { describe, expect, it } from 'vitest'
import yargs from 'yargs'
import { checkedLoss, lossBuilder } from './loss-arguments.ts'

const checked = (...given: string[]) => checkedLoss(yargs(given).options(lossBuilder).parseSync())

describe('checkedLoss', () => {
  it('fills in what is usual for the kind of run', () => {
    expect(checked()).toMatchObject({ nodes: 20, seeds: 20, rate: 5, fill: true, thinFloods: true })
    expect(checked('--processes')).toMatchObject({ nodes: 10, seeds: 1 })
    expect(checked('--no-fill', '--kill-every', '0')).toMatchObject({ fill: false, killEvery: 0 })
    expect(checked('--one-link', '--nodes', '2')).toMatchObject({ nodes: 2, oneLink: true })
  })

  it('bounds a run by what there is to do', () => {
    expect([checked().minutes, checked('--seeds', '1').minutes]).toEqual([22, 2])
    expect(checked('--seeds', '1', '--rate', '50').minutes).toBe(7)
    expect(checked('--processes').minutes).toBe(4)
    expect(checked('--one-link', '--seeds', '3').minutes).toBe(15)
    expect(checked('--seeds', '1000000').minutes).toBe(10_080)
    expect(checked('--minutes', '5').minutes).toBe(5)
  })

  it.each([
    // Nothing would be run, and so nothing missed.
    '--seeds -1',
    '--seeds x',
    '--seed 0.5',
    '--nodes 1',
    '--rate 0',
    '--seconds -5',
    '--publishers 21',
    '--loss 1',
    '--loss -0.1',
    '--kill-every x',
    // These would change nothing.
    '--one-link --rate 9',
    '--one-link --no-fill',
    '--processes --floods full',
    '--processes --one-link',
  ])('refuses %s', (given) => {
    expect(() => checked(...given.split(' '))).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})
