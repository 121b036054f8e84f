#!/usr/bin/env node
/**
 * `prepack` and `postpack` of every package, run in its folder. Plain JavaScript that an old Node can run, too.
 * Before: builds where something has changed, takes what is left of earlier builds out of `dist`, and puts the licence and the manifest for others in place.
 * After: puts back what was there. If packing was interrupted, the next one does.
 * With RUNNEL_BUILT in its environment it does not build: who packs all packages has built them once.
 */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBuilt } from './bundled.mjs'
import { packedManifest, repositoryUrl } from './packed-manifest.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folder = process.cwd()
const [manifest, ours, licence] = ['package.json', 'package.json.orig', 'LICENSE'].map((name) =>
  join(folder, name),
)

const steps = { prepack, postpack }
const step = process.argv[2] ?? ''
if (!Object.hasOwn(steps, step)) {
  process.stderr.write('runnel: usage: node scripts/pack.mjs prepack|postpack, in the folder of a package\n')
  process.exit(64)
}
steps[step]()

function prepack() {
  postpack()
  if (process.env.RUNNEL_BUILT === undefined && !isBuilt()) build()
  for (const file of filesIn(join(folder, 'dist'))) if (isStale(file)) rmSync(join(folder, 'dist', file))
  copyFileSync(join(root, 'LICENSE'), licence)
  const packed = packedManifest(JSON.parse(readFileSync(manifest, 'utf8')), repository())
  requireFiles(packed.exports)
  // Moved, not copied: it comes back as old as it was, and nothing is built for its sake.
  renameSync(manifest, ours)
  writeFileSync(manifest, `${JSON.stringify(packed, undefined, 2)}\n`)
}

function postpack() {
  if (existsSync(ours)) renameSync(ours, manifest)
  rmSync(licence, { force: true })
}

/** Installs what is not installed, and builds; without what the npm that packs has set for itself, but where the machine's settings are. */
function build() {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(nodedir|globalconfig)$)/i.test(name)),
  )
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), 'build'], {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** A package whose manifest names what was not built installs, and fails where it is used. */
function requireFiles(exports) {
  if (typeof exports === 'object') return Object.values(exports).forEach(requireFiles)
  if (existsSync(join(folder, exports))) return
  process.stderr.write(`runnel: ${join(folder, exports)} is missing: run npm run build\n`)
  postpack()
  process.exit(1)
}

function filesIn(directory, prefix = '') {
  return readdirSync(join(directory, prefix), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(directory, join(prefix, entry.name)) : [join(prefix, entry.name)],
  )
}

/** True of what was compiled from a file that is gone. Bundles see to that themselves. */
function isStale(file) {
  if (/^(page|bundled|program)[\\/]|^\./.test(file)) return false
  const source = join(folder, 'src', file.replace(/\.(d\.ts|js)$/, ''))
  return ![source, `${source}.ts`, `${source}.tsx`].some((path) => existsSync(path))
}

/** Nothing where there is no remote that others could reach. */
function repository() {
  const { stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: root, encoding: 'utf8' })
  const url = repositoryUrl((stdout ?? '').trim())
  return url === undefined
    ? undefined
    : { type: 'git', url, directory: relative(root, folder).split(sep).join('/') }
}
