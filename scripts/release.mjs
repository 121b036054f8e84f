#!/usr/bin/env node
/**
 * Makes a release: raises the version everywhere, closes the changelog, packs every package, writes what they stand on (SBOM), and
 * keeps what talks on the wire in `releases/`, for `scripts/releases.test.ts`. It commits, tags and publishes nothing: it prints how to.
 *
 *   node scripts/release.mjs major|minor|patch|VERSION [--dry-run] [--out DIRECTORY]
 *
 * The tarballs and the SBOM go to the directory; default: `.runnel/release`. With --dry-run all of it is done to a copy.
 */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  lockWithoutDev,
  lockWithVersion,
  nextVersion,
  releasedChangelog,
  withVersion,
} from './release/steps.mjs'

const repository = join(import.meta.dirname, '..')
const wire = ['protocol', 'transport', 'network', 'tracker']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' } },
})
const [wanted] = positionals
if (wanted === undefined) {
  process.stderr.write(
    'usage: node scripts/release.mjs major|minor|patch|VERSION [--dry-run] [--out DIRECTORY]\n',
  )
  process.exit(64)
}

const out = resolve(values.out ?? join(repository, '.runnel/release'))
// A copy cannot build: what is packed of it says the version before.
if (values['dry-run']) build()
const copy = values['dry-run'] ? mkdtempSync(join(tmpdir(), 'runnel-release-')) : undefined
try {
  if (copy !== undefined) copyRepository(copy)
  release(copy ?? repository)
} finally {
  if (copy !== undefined) rmSync(copy, { recursive: true })
}

function release(root) {
  const read = (file) => readFileSync(join(root, file), 'utf8')
  const write = (file, text) => {
    writeFileSync(join(root, file), text)
    process.stdout.write(`changed ${file}\n`)
  }
  const edit = (file, change) =>
    write(file, `${JSON.stringify(change(JSON.parse(read(file))), undefined, 2)}\n`)

  const lock = JSON.parse(read('package-lock.json'))
  const folders = Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'))
  const packages = folders.filter((folder) => /^(contracts|packages\/.+)$/.test(folder))
  const version = nextVersion(JSON.parse(read('package.json')).version, wanted)
  const kept = join(root, 'releases', version)
  if (existsSync(kept)) throw new Error(`${kept} exists: a release is kept as it was`)

  write(
    'CHANGELOG.md',
    releasedChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10)),
  )
  write('lerna.json', read('lerna.json').replace(/(?<="version": ")[^"]+/, version))
  edit('package-lock.json', () => lockWithVersion(lock, version))
  for (const folder of folders)
    edit(join(folder, 'package.json'), (manifest) => withVersion(manifest, version))
  const said = 'packages/network/src/version.ts'
  write(said, read(said).replace(/(?<=softwareVersion = ')[^']+/, version))
  if (!values['dry-run']) build()

  mkdirSync(out, { recursive: true })
  const workspaces = packages.flatMap((folder) => ['--workspace', folder])
  const npm = (cwd, ...args) =>
    execFileSync('npm', [...args, ...workspaces], {
      cwd,
      env: { ...process.env, RUNNEL_BUILT: '1' },
      stdio: ['ignore', 'pipe', 2],
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
  npm(root, 'pack', '--silent', '--pack-destination', out)
  const sbom = JSON.parse(sbomOf())
  // npm calls it as the folder.
  Object.assign(sbom.metadata.component, { name: 'runnel', version })
  writeFileSync(join(out, `runnel-${version}.cdx.json`), `${JSON.stringify(sbom, undefined, 2)}\n`)

  mkdirSync(kept, { recursive: true })
  for (const name of wire) copyFileSync(join(out, tarball(name)), join(kept, tarball(name)))
  copyFileSync(join(root, 'scripts/release-peer.mjs'), join(kept, 'peer.mjs'))
  process.stdout.write(`kept ${relative(root, kept)}\n`)
  for (const folder of packages) process.stdout.write(`packed ${join(out, tarball(basename(folder)))}\n`)
  process.stdout.write(`then: git commit --all, git tag v${version}, npm publish each of the tarballs\n`)

  /**
   * npm's SBOM of what users install. Its `--omit dev` also leaves out what one package needs if another has it for its development;
   * so it is made of manifests without what is for development.
   */
  function sbomOf() {
    const bare = mkdtempSync(join(tmpdir(), 'runnel-sbom-'))
    const put = (file, content) => {
      mkdirSync(dirname(join(bare, file)), { recursive: true })
      writeFileSync(join(bare, file), JSON.stringify(content))
    }
    try {
      const users = lockWithoutDev(JSON.parse(read('package-lock.json')))
      put('package-lock.json', users)
      for (const folder of folders) put(join(folder, 'package.json'), users.packages[folder])
      return npm(bare, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only')
    } finally {
      rmSync(bare, { recursive: true })
    }
  }

  function tarball(name) {
    return `runnel-${name}-${version}.tgz`
  }
}

/** Who has built, such as a test, says so. */
function build() {
  if (process.env.RUNNEL_BUILT !== undefined) return
  execFileSync(process.execPath, ['scripts/run.mjs', 'build'], { cwd: repository, stdio: ['ignore', 2, 2] })
}

function copyRepository(to) {
  const omitted = new Set(['node_modules', '.git', '.tools', '.runnel'])
  cpSync(repository, to, { recursive: true, filter: (source) => !omitted.has(basename(source)) })
}
