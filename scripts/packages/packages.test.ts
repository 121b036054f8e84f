import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFolders, packAll, root, type Packed, type Tarball } from './packed.testkit.ts'

let packed: Packed
beforeAll(async () => {
  packed = await packAll('https://someone:secret@git.example/runnel.git')
})
afterAll(() => packed.remove())

type Exports = string | { readonly [condition: string]: Exports }

/** All files that `exports` names. */
const targets = (exports: Exports): string[] =>
  typeof exports === 'string' ? [exports] : Object.values(exports).flatMap(targets)

/** What files import of others beside them. */
const imported = (text: string): string[] =>
  [...text.matchAll(/(?:from|import|import\() ?["'](\.[^"']+)["']/g)].map((match) => match[1] ?? '')

describe.each(packageFolders)('the package of %s', (folder) => {
  let tarball: Tarball
  let manifest: Record<string, unknown> & { readonly exports: Exports }
  beforeAll(() => {
    tarball = packed.tarballs.find(({ name }) => name === basename(folder)) as Tarball
    manifest = JSON.parse(tarball.read('package.json')) as typeof manifest
  })

  it('has its licence, its README and what its manifest names, and nothing of the build or the tests', () => {
    const { files } = tarball
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md']))
    expect(tarball.read('LICENSE')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
    expect(files).toEqual(expect.arrayContaining(targets(manifest.exports).map((path) => path.slice(2))))
    const others = files.filter(
      (file) => !/^(LICENSE|README\.md|package\.json|(dist|bin|solidity)\/.+)$/.test(file),
    )
    expect(others).toEqual([])
    expect(files.filter((file) => /\.(test|testkit)\.|tsbuildinfo|\.map$|\.orig$/.test(file))).toEqual([])
  })

  it('has all that its files import of each other, and names no source map', () => {
    for (const file of tarball.files.filter((name) => /\.(js|d\.ts)$/.test(name))) {
      const text = tarball.read(file)
      expect(text.includes('sourceMappingURL'), file).toBe(false)
      if (file.startsWith('dist/page/assets/')) continue
      for (const path of imported(text)) {
        const target = join(file, '..', path)
        const wanted = file.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target
        expect(tarball.files, `${file} imports ${path}`).toContain(wanted)
      }
    }
  })

  it('says where its sources are, without the password of a remote, and what has effects', () => {
    const directory = folder
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      repository: { type: 'git', url: 'git+https://git.example/runnel.git', directory },
      sideEffects: expect.anything(),
    })
    expect(JSON.stringify(manifest.exports)).not.toContain('runnel-src')
  })

  it('is clean for publint', async () => {
    const file = readFileSync(tarball.path)
    const data = file.buffer.slice(file.byteOffset, file.byteOffset + file.length)
    const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  it('has types that are those of its code', () => {
    const program = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    // For Node 22.13 and newer, where `require` takes ES modules, and bundlers.
    const args = [program, '--profile', 'esm-only', '--format', 'ascii', '--no-color', tarball.path]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status, stdout).toBe(0)
  })
})

describe('the program in the package of packages/node', () => {
  it('has the licences of what is in it, and loads `fetch` only where it is used', () => {
    const { files, read } = packed.tarballs.find(({ name }) => name === 'node') as Tarball
    const program = files.filter((file) => /^dist\/program\/.*\.js$/.test(file))
    expect(program).toContain('dist/program/main.js')
    expect(read('dist/program/LICENSES.md')).toMatch(/^## fastify \d/m)
    // An import of these reads all that they export.
    for (const file of program) expect(read(file), file).not.toMatch(/(from|import)\s*"(node:)?https?"/)
  })
})
