import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForPages, type PageBundles } from './bundle.ts'

/** What a page may cost that uses no chain and no encryption. */
const budgetBytes = 153_000

const outdir = mkdtempSync(join(tmpdir(), 'runnel-page-'))
afterAll(() => rmSync(outdir, { recursive: true }))

let bundles: PageBundles
beforeAll(async () => {
  bundles = await bundleForPages(outdir)
})

const gzipBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(outdir, file))).length, 0)

/** The files a page loads at first: all that the first one names, but what has ethers or post-quantum cryptography in it. */
function filesAtFirst({ outputs }: Metafile, entry: string): Set<string> {
  const files = new Set<string>()
  const visit = (file: string): void => {
    const output = outputs[file]
    if (output === undefined || files.has(file) || isForLater(output)) return
    files.add(file)
    for (const { path } of output.imports) visit(path)
  }
  visit(entry)
  return files
}

const hasEthers = ({ inputs }: Metafile['outputs'][string]): boolean =>
  Object.keys(inputs).some((input) => input.includes('node_modules/ethers/'))

const isForLater = (output: Metafile['outputs'][string]): boolean =>
  hasEthers(output) || Object.keys(output.inputs).some((input) => input.includes('@noble/post-quantum/'))

describe('the bundle', () => {
  it('costs a page no more than its budget before it uses a chain or encryption', () => {
    const files = filesAtFirst(bundles.modules, 'runnel.js')
    expect(files).toContain('runnel.js')
    expect(gzipBytes(files)).toBeLessThanOrEqual(budgetBytes)
  })

  it('loads the access to a chain, and encryption, only when it is used', () => {
    const { outputs } = bundles.modules
    const later = Object.entries(outputs).filter(([, output]) => isForLater(output))
    expect(later.length).toBeGreaterThanOrEqual(2)
    const statically = Object.values(outputs).flatMap(({ imports }) =>
      imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path),
    )
    for (const [file] of later) expect(statically).not.toContain(file)
  })

  it('is one file where that is wanted', () => {
    expect(Object.keys(bundles.single.outputs)).toEqual(['runnel.single.js'])
  })

  it('has nothing of Node in it', () => {
    for (const { outputs } of [bundles.modules, bundles.single]) {
      for (const { imports, inputs } of Object.values(outputs)) {
        expect(
          Object.keys(inputs).filter((input) => /node_modules\/(ws|node-datachannel)\//.test(input)),
        ).toEqual([])
        expect(imports.filter(({ external }) => external)).toEqual([])
      }
    }
  })
})
