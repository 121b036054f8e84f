import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const run = (command: string) =>
  promisify(execFile)(process.execPath, ['--conditions=runnel-src', main, ...command.split(' ')])

const profiles = mkdtempSync(join(tmpdir(), 'runnel-profile-'))
afterAll(() => rmSync(profiles, { recursive: true }))

// Those whose small run is not a test beside them.
describe('a small run', { timeout: 120_000 }, () => {
  it.each([
    'relay --messages 2000',
    'relay --messages 2000 --transport websocket --verify off',
    'join --nodes 4 --joins 3',
    'topology --nodes 200',
    'store --messages 2000 --history 20000',
    'tracker --nodes 100 --streams 10 --seconds 1 --rejoins 20',
    'browser --loads 2 --seconds 2 --rate 100',
    'tabs --nodes 3 --tabs 2 --seconds 5',
    `profile --out ${profiles} relay --messages 2000`,
  ])('of %s', async (command) => {
    const { stdout, stderr } = await run(`${command} --json`)
    expect(stderr).toMatch(/^ends within \d+ s\n/)
    const report = JSON.parse(stdout) as Record<string, unknown>
    expect(report['bench']).toBe(command.split(' ')[0])
    expect(stdout).not.toMatch(/null|NaN/)
  })

  it.each([
    ['speakers --limit 0.5', /^TOO_SLOW: .+: speakers/m],
    ['topology --nodes 1000000 --limit 2', /^TOO_SLOW: .+: topology \(joins: \d+ of 1000000 nodes\)/m],
    ['flood --nodes 4 --messages 9000000 --limit 10', /^TOO_SLOW: .+: flood \(.+: \d+ of \d+ deliveries\)/m],
    ['start --limit 3', /^TOO_SLOW: .+: start \(network \d+ of 100, .+\)/m],
    ['delegation --delegations 10 --limit 4', /^TOO_SLOW: .+: delegation \(starts, pair \d+ of 15.*\)/m],
  ])('that takes too long ends, and says what it was at: %s', async (command, said) => {
    await expect(run(command)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(said) as string,
    })
  })
})
