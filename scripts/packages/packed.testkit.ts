/** The packages as `npm pack` makes them, from a copy of what is there: packing changes the folder of a package for a moment. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { bundleForPages } from '@runnel/browser/bundle'
import { bundleEthers } from '../../contracts/scripts/bundle-ethers.ts'
import { bundleProgram } from '../../packages/node/scripts/bundle-program.ts'

export const root = join(import.meta.dirname, '../..')
const omitted = new Set(['node_modules', '.git', '.tools', '.runnel', 'releases'])

/** The folders of all packages, seen from the root. */
export const packageFolders = [
  'contracts',
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`),
]

/** A packed package. */
export interface Tarball {
  /** `client` of `@runnel/client`. */
  readonly name: string
  readonly path: string
  /** Its files, seen from the root of the package. */
  readonly files: readonly string[]
  read(file: string): string
}

export interface Packed {
  readonly tarballs: readonly Tarball[]
  /** The paths of these, or of all. */
  paths(...names: string[]): string[]
  remove(): void
}

/** Packs all packages of a clone with this remote; needs a build (`npx tsc -b`). */
export async function packAll(remote: string): Promise<Packed> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-packed-'))
  const [clone, destination] = [join(directory, 'clone'), join(directory, 'tarballs')]
  mkdirSync(destination)
  for (const name of ['package.json', 'tsconfig.base.json', 'LICENSE', 'contracts', 'packages', 'scripts'])
    cpSync(join(root, name), join(clone, name), {
      recursive: true,
      filter: (source) => !omitted.has(basename(source)),
    })
  await Promise.all([
    bundleForPages(join(clone, 'packages/browser/dist/page')),
    bundleEthers(join(clone, 'contracts/dist/bundled')),
    bundleProgram(join(clone, 'packages/node/dist/program')),
  ])
  execFileSync('git', ['init', '--quiet'], { cwd: clone })
  execFileSync('git', ['remote', 'add', 'origin', remote], { cwd: clone })
  const workspaces = packageFolders.flatMap((folder) => ['--workspace', folder])
  execFileSync('npm', ['pack', '--silent', ...workspaces, '--pack-destination', destination], {
    cwd: clone,
    env: { ...process.env, RUNNEL_BUILT: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const tarballs = readdirSync(destination).map((file) => tarball(join(destination, file)))
  const paths = (...names: string[]) =>
    tarballs.filter(({ name }) => names.length === 0 || names.includes(name)).map(({ path }) => path)
  return { tarballs, paths, remove: () => rmSync(directory, { recursive: true }) }
}

function tarball(path: string): Tarball {
  const contents = path.replace(/\.tgz$/, '')
  mkdirSync(contents)
  execFileSync('tar', ['-xzf', path, '-C', contents, '--strip-components=1'])
  return {
    path,
    name: /^runnel-(\w+)-/.exec(basename(path))?.[1] ?? '',
    files: readdirSync(contents, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(contents, join(entry.parentPath, entry.name))),
    read: (file) => readFileSync(join(contents, file), 'utf8'),
  }
}
