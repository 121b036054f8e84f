/**
 * Packs what talks on the wire into `releases/<version>/`, for `scripts/releases.test.ts`: run `node scripts/pack-release.mjs` when a
 * version is released, and commit what it writes. It never overwrites a release.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const packages = ['protocol', 'transport', 'network', 'tracker']
const { version } = JSON.parse(readFileSync(join(root, 'packages/protocol/package.json'), 'utf8'))
const directory = join(root, 'releases', version)
if (existsSync(directory)) throw new Error(`${directory} exists: a release is kept as it was`)

mkdirSync(directory, { recursive: true })
const workspaces = packages.flatMap((name) => ['--workspace', `packages/${name}`])
execFileSync('npm', ['pack', ...workspaces, '--pack-destination', directory], { cwd: root, stdio: 'inherit' })
copyFileSync(join(root, 'scripts/release-peer.mjs'), join(directory, 'peer.mjs'))
