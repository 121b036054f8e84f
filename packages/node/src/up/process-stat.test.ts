import { expect, it } from 'vitest'
import { statFieldsOf, usageOf } from './process-stat.ts'

it.runIf(process.platform === 'linux')('reads what a process takes', () => {
  const { cpuMs, rssBytes } = usageOf(process.pid)
  const { user, system } = process.cpuUsage()
  expect(cpuMs).toBeGreaterThan(0)
  expect(cpuMs).toBeLessThanOrEqual((user + system) / 1_000 + 20)
  expect(rssBytes).toBeGreaterThan(1_000_000)
  expect(statFieldsOf(process.pid)[1]).toBe(`${process.ppid}`)
})

it('throws of a process that is not there', () => {
  expect(() => usageOf(2 ** 30)).toThrow()
})
