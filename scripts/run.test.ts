import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '..')
const emulate = 'propagation --place loopback --nodes 5'.split(' ')
const isUnderWay = 'propagation: run 1 of 1: the overlay forms'

/** Starts a command in a group of its own, signals it or its group when the experiment is under way, and gives how it ended. */
async function ended(words: readonly string[], signal: NodeJS.Signals, toGroup: boolean) {
  const [program = '', ...args] = [...words, ...emulate]
  const child = spawn(program, args, { cwd: root, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const pid = Number(child.pid)
  onTestFinished(() => endGroup(pid))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let said = ''
  // To the end of the last process that has the stream.
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`
    if (line === isUnderWay) process.kill(toGroup ? -pid : pid, signal)
  }
  return { said, exit: await exited }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const run = { words: ['node', 'scripts/run.mjs', 'emulate'], exit: [1, null] }
// The shell that npm starts passes on no signals.
const npm = { words: ['npm', 'run', '-s', 'emulate', '--'], exit: [null, 'SIGTERM'] }

describe('an experiment', { timeout: 120_000 }, () => {
  it.each([
    { ...run, signal: 'SIGTERM', toGroup: false },
    { ...run, signal: 'SIGTERM', toGroup: true },
    { ...run, signal: 'SIGINT', toGroup: true },
    { ...npm, signal: 'SIGTERM', toGroup: false },
  ] as const)('ends with $words.0 on $signal, to its group: $toGroup', async (one) => {
    const { said, exit } = await ended(one.words, one.signal, one.toGroup)
    expect(said).toContain('INTERRUPTED: ')
    expect(said).toContain(one.signal)
    expect(exit).toEqual(one.exit)
  })
})

it('tells of wrong arguments before programs are installed', { timeout: 120_000 }, () => {
  const path = mkdtempSync(join(tmpdir(), 'runnel-path-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  // Without Xvfb, and without anything that could install it.
  symlinkSync(process.execPath, join(path, 'node'))
  const args = ['scripts/run.mjs', 'emulate', 'sessions', '--members', '1']
  const { status, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: root, encoding: 'utf8', env: { ...process.env, PATH: path } },
  })
  expect(stderr).toContain('will install: ')
  expect(stderr).toContain('INVALID_ARGUMENT: ')
  expect(status).toBe(64)
})
