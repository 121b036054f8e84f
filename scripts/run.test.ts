import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '..')
const emulate = 'propagation --place loopback --nodes 5'.split(' ')
const isUnderWay = 'propagation: run 1 of 1: the overlay forms'

interface Signalled {
  readonly words: readonly string[]
  readonly cwd?: string
  readonly signal: NodeJS.Signals
  readonly toGroup?: boolean
  /** The line on which the signal is sent. */
  readonly on: string
}

/** Starts a command in a group of its own, signals it or its group when it is under way, and gives how it ended. */
async function ended({ words, cwd = root, signal, toGroup = false, on }: Signalled) {
  const [program = '', ...args] = words
  const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const pid = Number(child.pid)
  onTestFinished(() => endGroup(pid))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let said = ''
  // To the end of the last process that has the stream.
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`
    if (line === on) process.kill(toGroup ? -pid : pid, signal)
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
// The shell that npm starts passes on no signals, and SIGHUP ends npm alone.
const npm = (signal: NodeJS.Signals) => ({
  ...{ words: ['npm', 'run', '-s', 'emulate', '--'], exit: [null, signal] },
  ...{ signal, toGroup: false, told: 'SIGTERM' },
})

describe('an experiment', { timeout: 120_000 }, () => {
  it.each([
    { ...run, signal: 'SIGTERM', toGroup: false },
    { ...run, signal: 'SIGTERM', toGroup: true },
    { ...run, signal: 'SIGINT', toGroup: true },
    { ...run, signal: 'SIGHUP', toGroup: false },
    npm('SIGTERM'),
    npm('SIGHUP'),
  ] as const)('ends with $words.0 on $signal, to its group: $toGroup', async (one) => {
    const { said, exit } = await ended({ ...one, words: [...one.words, ...emulate], on: isUnderWay })
    expect(said).toContain('INTERRUPTED: ')
    expect(said).toContain('told' in one ? one.told : one.signal)
    expect(exit).toEqual(one.exit)
  })
})

it('says that an experiment which takes no signals was ended', { timeout: 120_000 }, async () => {
  const words = ['node', 'scripts/run.mjs', 'sim', 'scale-model', '--nodes', '250000']
  const { said, exit } = await ended({ words, signal: 'SIGINT', toGroup: true, on: 'ends within 1440 min' })
  expect(said).toContain('runnel: ended by SIGINT; ')
  expect(exit).toEqual([130, null])
})

/** A repository that has nothing but a package whose installation says so, and then takes until it is ended. */
function installing(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runnel-installing-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const path of ['scripts', 'packages/node/bin'])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  const manifest = { name: 'installing', version: '1.0.0', type: 'module' }
  const install = `node -e "console.log('under way'); setInterval(() => {}, 1e6)"`
  write('package.json', { ...manifest, scripts: { install } })
  write('package-lock.json', { ...manifest, lockfileVersion: 3, packages: { '': manifest } })
  return folder

  function write(name: string, content: object): void {
    writeFileSync(join(folder, name), JSON.stringify(content))
  }
}

it.each([
  { signal: 'SIGINT', code: 130 },
  { signal: 'SIGTERM', code: 143 },
  { signal: 'SIGHUP', code: 129 },
] as const)('ends an installation on $signal, and begins it anew the next time', async ({ signal, code }) => {
  const cwd = installing()
  const stamp = join(cwd, 'node_modules/.runnel-lock')
  // Of an earlier installation.
  mkdirSync(join(cwd, 'node_modules'))
  writeFileSync(stamp, '')
  for (let i = 0; i < 2; i++) {
    const { exit } = await ended({
      words: ['node', 'scripts/run.mjs', 'build'],
      cwd,
      signal,
      on: 'under way',
    })
    expect(exit).toEqual([code, null])
    expect(existsSync(stamp)).toBe(false)
  }
})

it('installs in one folder for one command after another', async () => {
  const cwd = installing()
  // Of a process that was killed.
  mkdirSync(join(cwd, '.tools'))
  writeFileSync(join(cwd, '.tools/preparing'), '4194305')
  const start = () => {
    const child = spawn('node', ['scripts/run.mjs', 'build'], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
    onTestFinished(() => void child.kill())
    const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
    const said = async (wanted: string): Promise<void> => {
      for (let line = ''; line !== wanted;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error(`it ended without: ${wanted}`)
        if (value === 'under way' && wanted !== value) throw new Error(`it did not wait for: ${wanted}`)
        line = value
      }
    }
    return { child, said }
  }
  const first = start()
  await first.said('under way')
  const second = start()
  const { pid } = first.child
  await second.said(`runnel: process ${pid} is installing or building in this folder: waiting for it`)
  first.child.kill()
  await second.said('under way')
  const ended = once(second.child, 'exit')
  second.child.kill()
  expect(await ended).toEqual([143, null])
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
