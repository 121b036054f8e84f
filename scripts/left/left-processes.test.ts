import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { endLeftProcesses, leftProcesses, runVariable } from './left-processes.ts'

const root = join(import.meta.dirname, '../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const noProc = !existsSync('/proc/self/environ')

/** Starts a process that outlives the one that has started it. Gives its id. */
function leave(run: string): number {
  const env = { ...process.env, [runVariable]: run }
  const script = 'sleep 600 >/dev/null 2>&1 & echo $!'
  return Number(execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }))
}

/** Runs the one test of a file of `leaving/`. */
function start(file: string) {
  const config = join(import.meta.dirname, 'leaving/vitest.config.ts')
  const run = spawn(process.execPath, [vitest, 'run', '--config', config, file], { cwd: root })
  onTestFinished(() => void run.kill('SIGKILL'))
  return run
}

it.skipIf(noProc)('finds and ends what a run has left, and nothing else', async () => {
  const [run, other] = [randomUUID(), randomUUID()]
  const left = leave(run)
  const foreign = leave(other)
  onTestFinished(() => void process.kill(foreign, 'SIGKILL'))
  const own = spawn('sleep', ['600'], { stdio: 'ignore', env: { ...process.env, [runVariable]: run } })
  onTestFinished(() => void own.kill('SIGKILL'))
  await once(own, 'spawn')
  expect(leftProcesses(run)).toEqual([{ pid: left, command: 'sleep 600' }])
  expect(await endLeftProcesses(run, 0)).toEqual([{ pid: left, command: 'sleep 600' }])
  // Those that end by themselves are waited for.
  expect(await endLeftProcesses(run, 60_000)).toEqual([])
  expect(leftProcesses(other)).toEqual([{ pid: foreign, command: 'sleep 600' }])
  expect(own.exitCode ?? own.signalCode).toBeNull()
})

it.skipIf(noProc)('lets a run end though a test has left a process and a folder, and fail', async () => {
  const run = start('leaves')
  const [said, complaints, [code]] = await Promise.all([
    text(run.stdout),
    text(run.stderr),
    once(run, 'exit') as Promise<[number | null]>,
  ])
  expect(said).toContain('1 passed')
  expect(complaints).toMatch(/Tests have left processes[^]*\d+ sleep 601/)
  expect(code).toBe(1)
  const folder = /^the folder is (.+)$/m.exec(said)?.[1] ?? ''
  expect(basename(dirname(folder))).toMatch(/^runnel-test-/)
  expect(existsSync(dirname(folder))).toBe(false)
})

it.skipIf(noProc)(
  'ends what tests have started, and removes their files, when vitest is killed',
  async () => {
    const vitest = start('stays')
    let [run, folder] = ['', '']
    for await (const line of createInterface({ input: vitest.stdout })) {
      folder ||= /^the folder is (.+)$/.exec(line)?.[1] ?? ''
      run = /^the run is (\S+)$/.exec(line)?.[1] ?? ''
      if (run !== '') break
    }
    expect(existsSync(folder)).toBe(true)
    expect(leftProcesses(run)).toContainEqual(expect.objectContaining({ command: 'sleep 602' }))
    vitest.kill('SIGKILL')
    await expect.poll(() => leftProcesses(run)).toEqual([])
    await expect.poll(() => existsSync(folder)).toBe(false)
  },
)
