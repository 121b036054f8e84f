import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startOf } from './process-start.ts'
import { nodeError } from '../errors.ts'
import { readKeyFile } from '@runnel/client'
import { createKeyFile, nameKey, type NamedKey } from '../keys/key-file.ts'

/** The directory of a local network: keys, the network file, a configuration and a log for each process. */
export interface UpDirectory {
  readonly path: string
  readonly networkFile: string
  /** The key of that name, made if there is none: the same network has the same ids at each start. */
  key(name: string): Promise<NamedKey & { readonly file: string }>
  /** Writes a file of JSON and gives its path. */
  writeJson(name: string, value: unknown): string
  logFile(name: string): string
  /** Lets another process use the directory. Idempotent. */
  release(): void
}

/** Takes a directory for this process. Throws UP_ALREADY_RUNNING while another one has it. */
export function claimDirectory(path: string): UpDirectory {
  for (const sub of ['', 'keys', 'nodes', 'logs'])
    mkdirSync(join(path, sub), { recursive: true, mode: 0o700 })
  chmodSync(join(path, 'keys'), 0o700)
  const lockFile = join(path, 'up.pid')
  lock(lockFile, path)
  const keyFile = (name: string) => join(path, 'keys', `${name}.key`)
  return {
    path,
    networkFile: join(path, 'network.json'),
    key: async (name) => {
      const file = keyFile(name)
      const named = existsSync(file) ? await nameKey(readKeyFile(file)) : await createKeyFile(file)
      return { ...named, file }
    },
    writeJson: (name, value) => {
      const file = join(path, name)
      writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`)
      return file
    },
    logFile: (name) => join(path, 'logs', `${name.replaceAll(' ', '-')}.log`),
    release: () => rmSync(lockFile, { force: true }),
  }
}

function lock(file: string, directory: string): void {
  const take = () => writeFileSync(file, `${process.pid} ${startOf(process.pid) ?? ''}\n`, { flag: 'wx' })
  try {
    take()
  } catch (cause) {
    const [pid, start] = holderIn(readFileSync(file, 'utf8'))
    if (isRunning(pid) && (start === '' || startOf(pid) === start))
      throw nodeError('UP_ALREADY_RUNNING', `process ${pid} in ${directory}`, { cause })
    // Left behind by a process that was killed, also where another one has its number by now.
    rmSync(file, { force: true })
    take()
  }
}

/** The number of the process that took the directory, and when it started; empty where that is not known. */
function holderIn(text: string): readonly [pid: number, start: string] {
  const [, pid = '', start = ''] = /^(\d+)(?: (.+))?\s*$/.exec(text) ?? []
  return [Number(pid), start.trim()]
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
