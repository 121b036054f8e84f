import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../../..')
const folder = join(import.meta.dirname, '../../second')
const pins = join(folder, 'requirements.txt')

/**
 * The interpreter of a virtual environment with the pinned packages, made where there is none for them and this Python. Throws where it
 * cannot be made: nothing is skipped for want of Python.
 */
export function ensurePython(): string {
  const version = execFileSync('python3', ['-c', 'import sys; print(sys.executable, sys.version)'])
  const wanted = createHash('sha256').update(readFileSync(pins)).update(version).digest('hex').slice(0, 16)
  const home = join(root, '.tools', `second-${wanted}`)
  if (!existsSync(home)) makeEnvironment(home)
  return join(home, 'bin/python')
}

/** Under another name until it is whole, as two may make it at once. */
function makeEnvironment(home: string): void {
  const draft = `${home}-${randomUUID()}`
  mkdirSync(join(root, '.tools'), { recursive: true })
  try {
    execFileSync('python3', ['-m', 'venv', draft])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', pins]
    execFileSync(join(draft, 'bin/python'), pip)
    renameSync(draft, home)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(home)) throw error
  }
}

/** Runs the second implementation and returns the lines it prints, as JSON. Throws with what it says when it fails. */
export function runSecond(python: string, args: readonly string[], lines: readonly string[] = []): unknown[] {
  const input = lines.map((line) => `${line}\n`).join('')
  const ran = spawnSync(python, ['-B', '-m', 'runnel_second', ...args], {
    ...{ cwd: folder, input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  })
  if (ran.status !== 0) throw new Error(`${ran.stderr}${ran.stdout}`, { cause: ran.error })
  return ran.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}
