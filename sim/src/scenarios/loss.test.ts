import { describe, expect, it } from 'vitest'
import { lossDefaults, runLoss } from './loss.ts'

const seeds = ['1', '2', '3']
/** So much that several copies of a message are lost often enough. */
const lossRate = 0.3

describe('loss on every link, and nodes killed', () => {
  it.each(seeds)('takes no message from a survivor, with seed %s', async (seed) => {
    const report = await runLoss({ ...lossDefaults, lossRate, seed })
    expect(report.survivors).toBeGreaterThan(lossDefaults.publishers)
    expect(report.killed).toBeGreaterThan(10)
    expect(report.gaps.opened).toBeGreaterThan(10)
    expect(report.missing).toEqual([])
    expect(report).toMatchObject({ delivered: report.expected, outOfOrder: 0, duplicates: 0 })
  })

  it('takes some when gaps are not filled', async () => {
    const report = await runLoss({ ...lossDefaults, seed: '1', fillGaps: false })
    expect(report.delivered).toBeLessThan(report.expected)
    expect(report.missing).not.toEqual([])
    expect(report).toMatchObject({ outOfOrder: 0, duplicates: 0 })
  })

  it('ends where its progress is refused', async () => {
    const refuse = (text: string) => {
      if (text.includes('second 3')) throw new Error(text)
    }
    await expect(runLoss({ ...lossDefaults, seed: '7' }, refuse)).rejects.toThrow('seed 7: second 3')
  })

  it('is the same for the same seed, and another for another', async () => {
    const options = { ...lossDefaults, nodes: 10, seconds: 10, killEverySeconds: 2 }
    const hashOf = async (seed: string): Promise<string> => (await runLoss({ ...options, seed })).traceHash
    expect(await hashOf('a')).toBe(await hashOf('a'))
    expect(await hashOf('b')).not.toBe(await hashOf('a'))
  })
})
