import { describe, expect, it } from 'vitest'
import { runRunnel } from '../../cli.testkit.ts'
import type { RunReport } from '../report/run-report.ts'

/** Processes and browsers take their time on a busy machine. */
const timeoutMs = 120_000

describe('users of a bench', () => {
  it.each(['light', 'process', 'browser', 'http', 'mqtt'])(
    'take part as %s: all comes to all, once and in order',
    async (kind) => {
      const line = `bench pubsub --users ${kind} --clients 3 --rate 5 --nodes 1 --duration 1s --warmup 200ms --json`
      const { stdout, stderr, code } = await runRunnel([
        ...line.split(' '),
        '--aim',
        'loss=0,duplicates=0,disordered=0',
      ])
      expect(code, `${stdout}${stderr}`).toBe(0)
      const report = JSON.parse(stdout) as RunReport
      expect(report).toMatchObject({ published: 18, received: 36, errors: {} })
      expect(report.leavesOut).not.toBe('')
    },
    timeoutMs,
  )

  it(
    'say before anything starts that there is no browser',
    async () => {
      const env = { RUNNEL_CHROMIUM: '/no/such/chromium' }
      const line = 'bench pubsub --users browser --clients 2 --nodes 0'
      const { stderr } = await runRunnel(line.split(' '), { env })
      // It was cleaned of RUNNEL_ names but for those given.
      expect(stderr).toContain('BENCH_BROWSER_MISSING')
      expect(stderr).not.toContain('starting')
    },
    timeoutMs,
  )
})
