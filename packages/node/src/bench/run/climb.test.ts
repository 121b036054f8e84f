import { expect, it } from 'vitest'
import { nodeError } from '../../errors.ts'
import type { RunReport } from '../report/run-report.ts'
import { climb } from './climb.ts'
import type { BenchRequest } from './run-bench.ts'

/** Climbs where loads up to `limit` are met, and `requestFor` refuses some. */
function climbWith(limit: number, refuses: (load: number) => boolean, from = 5, cutAt = 0) {
  const requestFor = (load: number) => {
    if (refuses(load)) throw nodeError('USAGE', `${load} is not allowed`)
    return { clients: load } as BenchRequest
  }
  const run = ({ clients }: BenchRequest) => {
    const aims = [{ aim: 'p99<1ms', measured: clients, met: clients <= limit }]
    const report = { title: `${clients}`, aims, doubts: [], processes: [] } as unknown as RunReport
    if (clients === cutAt) return Promise.resolve({ report, cut: { error: nodeError('INTERRUPTED') } })
    return Promise.resolve({ report, cut: undefined })
  }
  return climb({ from, most: 100, maxSteps: 10 }, { requestFor, run, onPhase: () => {} })
}

it('finds the largest load that is met', async () => {
  expect(await climbWith(10, () => false)).toMatchObject({
    ...{ result: { load: 10, end: 'network' }, best: { title: '10' }, refused: undefined },
  })
})

it('keeps what it found where the options do not allow the next load', async () => {
  expect(await climbWith(10, (load) => load === 15)).toMatchObject({
    ...{ result: { load: 10, end: 'network' }, best: { title: '10' } },
    refused: expect.stringContaining('not tried: 15'),
  })
})

it('says what failed where the options do not allow to go lower', async () => {
  expect(await climbWith(0, (load) => load < 4, 8)).toMatchObject({
    ...{ result: { load: 0, end: 'network' }, best: { title: '8' } },
    refused: expect.stringContaining('2 is not allowed'),
  })
})

it('keeps what it found where it is cut short', async () => {
  expect(await climbWith(100, () => false, 5, 20)).toMatchObject({
    ...{ result: { load: 10, end: 'ended-early' }, best: { title: '10' } },
    tried: [5, 10].map((load) => ({ load, met: true, text: 'met' })),
    cut: { error: { code: 'INTERRUPTED' } },
  })
  expect(await climbWith(10, () => false, 5, 15)).toMatchObject({ result: { load: 10, end: 'network' } })
})

it('keeps what the first load measured until it was cut short', async () => {
  expect(await climbWith(10, () => false, 5, 5)).toMatchObject({
    ...{ result: { load: 0, end: 'ended-early' }, best: { title: '5' }, tried: [] },
    cut: { error: { code: 'INTERRUPTED' } },
  })
})

it('fails with what a run throws that is not for its size', async () => {
  const work = {
    requestFor: () => ({}) as BenchRequest,
    run: () => Promise.reject(nodeError('USAGE', 'the stream has fewer partitions')),
    onPhase: () => {},
  }
  await expect(climb({ from: 1, most: 2, maxSteps: 2 }, work)).rejects.toMatchObject({ code: 'USAGE' })
})
