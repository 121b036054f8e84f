import { describe, expect, it } from 'vitest'
import type { DecodersReport, DecodersTask } from '../scenarios/decoders/decoders-run.ts'
import { inChildren } from './in-children.ts'

const child = new URL('../cli/decoders-child.ts', import.meta.url)
const tasks = (seeds: readonly number[]) => seeds.map((seed) => ({ seed, frames: 100 }))

describe('tasks in child processes', () => {
  it('are all done, whatever the number of processes', async () => {
    const seeds: number[] = []
    for await (const report of inChildren<DecodersTask, DecodersReport>(child, tasks([1, 2, 3]), {
      jobs: 2,
      minutes: 1,
    }))
      seeds.push(report.seed)
    expect(seeds.sort()).toEqual([1, 2, 3])
  })

  it('fail when the minutes are over, and end', async () => {
    const results = inChildren<DecodersTask, DecodersReport>(child, tasks([1]), { jobs: 1, minutes: 0 })
    await expect(results.next()).rejects.toMatchObject({
      code: 'TOO_SLOW',
      message: expect.stringContaining('0 tasks done, 1 under way') as string,
    })
  })

  it('end when nobody asks for more', async () => {
    for await (const report of inChildren<DecodersTask, DecodersReport>(child, tasks([1, 2]), {
      jobs: 1,
      minutes: 1,
    })) {
      expect(report.faults).toEqual([])
      break
    }
  })
})
