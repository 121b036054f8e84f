/** Projects of somebody else: folders outside the repository, into which packages are installed. */
import { execFile } from 'node:child_process'
import { cpSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Project {
  readonly directory: string
  /** Runs a program there to its end, and returns what it prints; rejects with what it says when it fails. */
  run(command: string, ...args: string[]): Promise<string>
  write(file: string, content: string | object): void
  /** The sizes of all files in `node_modules`, added. */
  installedBytes(): number
  remove(): void
}

/** What is set for the programs of this repository; not where npm finds the machine's own settings, and the headers of its Node. */
const ofThisRepository = /^(npm_(?!config_(globalconfig|nodedir)$)|NODE_OPTIONS|VITEST|RUNNEL_)/i

/** A project with these packages, and the programs of `program/`; with these options of npm. */
export async function installProject(packages: readonly string[], ...options: string[]): Promise<Project> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-project-'))
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofThisRepository.test(name)))
  const run = async (command: string, ...args: string[]) => {
    const failed = (error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`, { cause: error })
    }
    const { stdout } = await promisify(execFile)(command, args, { cwd: directory, env }).catch(failed)
    return stdout.trim()
  }
  const write = (file: string, content: string | object) =>
    writeFileSync(
      join(directory, file),
      typeof content === 'string' ? content : JSON.stringify(content, undefined, 2),
    )
  const installedBytes = () =>
    readdirSync(join(directory, 'node_modules'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((bytes, entry) => bytes + lstatSync(join(entry.parentPath, entry.name)).size, 0)
  write('package.json', { name: 'project', private: true, type: 'module' })
  await run(
    'npm',
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel',
    'error',
    ...options,
    ...packages,
  )
  cpSync(join(import.meta.dirname, 'program'), directory, { recursive: true })
  return { directory, run, write, installedBytes, remove: () => rmSync(directory, { recursive: true }) }
}
