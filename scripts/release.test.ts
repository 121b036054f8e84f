import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleForPages } from '@runnel/browser/bundle'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleEthers } from '../contracts/scripts/bundle-ethers.ts'
import {
  lockWithoutDev,
  lockWithVersion,
  nextVersion,
  releasedChangelog,
  withVersion,
} from './release/steps.mjs'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { version: current } = JSON.parse(read('package.json')) as { version: string }

describe('a release', () => {
  it.each([
    ['1.2.3', 'major', '2.0.0'],
    ['1.2.3', 'minor', '1.3.0'],
    ['1.2.3', 'patch', '1.2.4'],
    ['1.2.3', '1.10.0', '1.10.0'],
  ])('after %s, %s is %s', (version, wanted, next) => {
    expect(nextVersion(version, wanted)).toBe(next)
  })

  it.each(['1.2.3', '1.1.9', '0.9.9', 'newest', '1.2.3-beta'])('after 1.2.3 is none of %s', (wanted) => {
    expect(() => nextVersion('1.2.3', wanted)).toThrow(wanted)
  })

  it('needs all packages of the repository in its version, and others as before', () => {
    const manifest = { version: '1.0.0', dependencies: { '@runnel/network': '1.0.0', ws: '^8.0.0' } }
    const released = { version: '2.0.0', dependencies: { '@runnel/network': '2.0.0', ws: '^8.0.0' } }
    expect(withVersion(manifest, '2.0.0')).toEqual(released)
    const others = { 'node_modules/ws': { version: '8.0.0' }, 'node_modules/@runnel/x': { link: true } }
    expect(lockWithVersion({ packages: { 'packages/x': manifest, ...others } }, '2.0.0')).toEqual({
      version: '2.0.0',
      packages: { 'packages/x': released, ...others },
    })
  })

  it('stands on what is not for development alone', () => {
    const others = { 'node_modules/ws': { devDependencies: { y: '1.0.0' } } }
    const ours = { dependencies: { ws: '^8.0.0' } }
    const lock = { packages: { 'packages/x': { ...ours, devDependencies: { x: '1.0.0' } }, ...others } }
    expect(lockWithoutDev(lock)).toEqual({ packages: { 'packages/x': ours, ...others } })
  })

  it('closes what was unreleased, and refuses to be of nothing', () => {
    const changelog = (changes: string) => `# Changelog\n\n## Unreleased\n${changes}\n## 1.0.0 - 2020-01-01\n`
    expect(releasedChangelog(changelog('\n- A change.\n'), '2.0.0', '2021-01-01')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 2.0.0 - 2021-01-01\n\n- A change.\n\n## 1.0.0 - 2020-01-01\n',
    )
    expect(() => releasedChangelog(changelog(''), '2.0.0', '2021-01-01')).toThrow('nothing')
  })
})

describe('node scripts/release.mjs --dry-run', () => {
  const out = mkdtempSync(join(tmpdir(), 'runnel-out-'))
  beforeAll(() =>
    Promise.all([
      bundleForPages(join(root, 'packages/browser/dist/page')),
      bundleEthers(join(root, 'contracts/dist/bundled')),
    ]),
  )
  afterAll(() => rmSync(out, { recursive: true }))

  it('packs every package with its version and what it stands on, and changes nothing here', () => {
    const files = [
      'package.json',
      'package-lock.json',
      'CHANGELOG.md',
      'lerna.json',
      'packages/client/package.json',
      'packages/network/src/version.ts',
    ]
    const before = files.map(read)
    const version = nextVersion(current, 'minor')
    const printed = execFileSync(
      process.execPath,
      [join(root, 'scripts/release.mjs'), 'minor', '--dry-run', '--out', out],
      { encoding: 'utf8', env: { ...process.env, RUNNEL_BUILT: '1' } },
    )
    for (const file of files) expect(printed).toContain(`changed ${file}\n`)
    expect(files.map(read)).toEqual(before)
    expect(readdirSync(join(root, 'releases'))).not.toContain(version)

    const names = ['contracts', ...readdirSync(join(root, 'packages'))]
    const tarballs = names.map((name) => `runnel-${name}-${version}.tgz`)
    expect(readdirSync(out).toSorted()).toEqual([...tarballs, `runnel-${version}.cdx.json`].toSorted())
    const client = execFileSync('tar', [
      '-xzOf',
      join(out, `runnel-client-${version}.tgz`),
      'package/package.json',
    ])
    expect(JSON.parse(client.toString())).toMatchObject({
      version,
      dependencies: { '@runnel/network': version },
    })

    const contracts = execFileSync('tar', ['-tzf', join(out, `runnel-contracts-${version}.tgz`)]).toString()
    expect(contracts).toContain('package/dist/bundled/ethers.js\n')

    const sbom = JSON.parse(readFileSync(join(out, `runnel-${version}.cdx.json`), 'utf8')) as Sbom
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'runnel', version } },
    })
    const components = sbom.components.map(({ group, name }) =>
      group === undefined ? name : `${group}/${name}`,
    )
    // The second line: what one package has for its development, and another for its users.
    expect(components).toEqual(
      expect.arrayContaining([
        ...['node-datachannel', 'libp2p', 'better-sqlite3'],
        ...['ethers', 'ws', 'zod', 'hpke', '@noble/curves', '@foundry-rs/anvil'],
      ]),
    )
    for (const ours of ['vitest', 'typescript', 'esbuild', 'solc']) expect(components).not.toContain(ours)
  })
})

interface Sbom {
  readonly components: readonly { readonly group?: string; readonly name: string }[]
}
