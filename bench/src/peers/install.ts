import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { loader, loaderName } from './installed.ts'

/** How a peer comes onto this machine; all of it but Debian's packages goes to a directory of its own. */
export interface Recipe {
  /** Names it under `.tools/peers/`. */
  readonly name: string
  /** Packages of npm with their exact versions. Nothing that they want to run when they are installed is run. */
  readonly npm?: Readonly<Record<string, string>>
  /** Other versions than the packages ask for. */
  readonly overrides?: Readonly<Record<string, string>>
  /** A package of PyPI that brings a program, as `name==version`. */
  readonly pip?: string
  /** A program of Debian, and the package that brings it. */
  readonly debian?: { readonly program: string; readonly package: string }
  /** A module of Go beside this file that is built. */
  readonly go?: string
}

const tools = fileURLToPath(new URL('../../../.tools/peers', import.meta.url))
const stampName = 'installed'

/** Installs what is not there; resolves with the directory. Rejects with the reason where this machine cannot have it. */
export async function install(recipe: Recipe, tell: (text: string) => void): Promise<string> {
  const directory = join(tools, recipe.name)
  await installDebian(recipe, tell)
  const stamp = join(directory, stampName)
  const wanted = stampOf(recipe)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return directory
  tell(`installing ${recipe.name} into .tools/peers`)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const { npm, overrides, pip, go } = recipe
  if (npm !== undefined) {
    const manifest = { private: true, dependencies: npm, ...(overrides && { overrides }) }
    writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(directory, loaderName), loader)
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], directory)
  }
  if (pip !== undefined) await installPip(pip, directory)
  if (go !== undefined) await run('go', ['build', '-o', join(directory, 'driver'), '.'], goModule(go))
  writeFileSync(stamp, wanted)
  return directory
}

async function installDebian({ debian }: Recipe, tell: (text: string) => void): Promise<void> {
  if (debian === undefined || isOnPath(debian.program)) return
  tell(`installing ${debian.package} by apt-get`)
  await run('apt-get', ['update', '-qq'])
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debian.package])
}

async function installPip(requirement: string, directory: string): Promise<void> {
  const args = ['install', '--quiet', '--disable-pip-version-check', '--no-deps']
  await run('python3', ['-m', 'pip', ...args, '--target', join(directory, 'python'), requirement])
}

const goModule = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** What was installed for this can be used; sources that are built count with what is in them. */
function stampOf(recipe: Recipe): string {
  const hash = createHash('sha256').update(JSON.stringify(recipe))
  if (recipe.go !== undefined) {
    const folder = goModule(recipe.go)
    for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

function isOnPath(program: string): boolean {
  const path = `${process.env['PATH']}${delimiter}/usr/sbin${delimiter}/sbin`
  return path.split(delimiter).some((folder) => existsSync(join(folder, program)))
}

async function run(command: string, args: readonly string[], cwd?: string): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd, maxBuffer: 64 * 1024 * 1024 })
  } catch (error) {
    const { message, stderr = '' } = error as Error & { readonly stderr?: string }
    const said = stderr.trim().split('\n').slice(-3).join(' ')
    throw new Error(`${command} ${args[0]}: ${said || message}`, { cause: error })
  }
}
