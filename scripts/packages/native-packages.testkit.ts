/** What of the packages that ours stand on is machine code, and for which platforms they bring it. From the lock file and what npm installed. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolders, root } from './packed.testkit.ts'

/** An entry of the lock file. */
interface Locked {
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** The platforms of the table, by the parts of the names that packages give them. */
export const platforms: Readonly<Record<string, RegExp>> = {
  'Linux x64, glibc': /linux-(x64|amd64)(?!.*musl)/,
  'Linux x64, musl': /linuxmusl-x64|linux-x64.*musl/,
  'Linux arm64, glibc': /linux-arm64(?!.*musl)/,
  'Linux arm64, musl': /linuxmusl-arm64|linux-arm64.*musl/,
  'macOS x64': /darwin-(x64|amd64)/,
  'macOS arm64': /darwin-arm64/,
  'Windows x64': /win32-(x64|amd64)/,
  'Windows arm64': /win32-arm64/,
}

/** The names of packages with machine code, and those of the platforms that each has it for. Needs an install. */
export function nativePackages(): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const folder of needed()) {
    const binaries = [...binariesIn(folder), ...optionalOf(folder)]
    if (binaries.length > 0 || locked[folder]?.hasInstallScript === true)
      found.set(
        folder.replace(/.*node_modules\//, ''),
        Object.keys(platforms).filter((name) => binaries.some((binary) => platforms[name]?.test(binary))),
      )
  }
  return found
}

/** The folders of all that is installed with our packages, without what is for one platform alone. */
function needed(): Set<string> {
  const seen = new Set<string>()
  const visit = (folder: string | undefined): void => {
    if (folder === undefined || seen.has(folder) || locked[folder]?.os !== undefined) return
    seen.add(folder)
    const { dependencies, optionalDependencies, peerDependencies } = locked[folder] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      visit(resolved(folder, name))
  }
  for (const folder of packageFolders) visit(folder)
  return new Set([...seen].filter((folder) => folder.startsWith('node_modules/')))
}

/** Where Node finds a package, seen from a folder: there, or further up. */
function resolved(folder: string, name: string): string | undefined {
  const steps = folder.split('/node_modules/')
  const parents = [...steps.map((_, i) => steps.slice(0, steps.length - i).join('/node_modules/')), '']
  const path = parents.map((parent) => join(parent, 'node_modules', name)).find((at) => at in locked)
  if (path === undefined) return undefined
  return locked[path]?.link === true ? locked[path].resolved : path
}

const binariesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.startsWith('prebuilds') && file.endsWith('.node'))
    .map((file) => file.replaceAll('\\', '/'))

/** The packages of which npm installs the one for the machine. */
const optionalOf = (folder: string): string[] =>
  Object.keys(locked[folder]?.optionalDependencies ?? {}).filter((name) =>
    Object.values(platforms).some((pattern) => pattern.test(name)),
  )
