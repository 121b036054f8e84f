import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForPages, type PageBundles } from './bundle.ts'

/** What a page may cost that uses no chain. */
const budgetBytes = 150_000

const outdir = mkdtempSync(join(tmpdir(), 'runnel-page-'))
afterAll(() => rmSync(outdir, { recursive: true }))

let bundles: PageBundles
beforeAll(async () => {
  bundles = await bundleForPages(outdir)
})

const gzipBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(outdir, file))).length, 0)

/** The files a page loads that uses no chain: all that the first one names, but what has ethers in it. */
function filesWithoutChain({ outputs }: Metafile, entry: string): Set<string> {
  const files = new Set<string>()
  const visit = (file: string): void => {
    const output = outputs[file]
    if (output === undefined || files.has(file) || hasEthers(output)) return
    files.add(file)
    for (const { path } of output.imports) visit(path)
  }
  visit(entry)
  return files
}

const hasEthers = ({ inputs }: Metafile['outputs'][string]): boolean =>
  Object.keys(inputs).some((input) => input.includes('node_modules/ethers/'))

describe('the bundle', () => {
  it('costs a page without a chain no more than its budget', () => {
    const files = filesWithoutChain(bundles.modules, 'runnel.js')
    expect(files).toContain('runnel.js')
    expect(gzipBytes(files)).toBeLessThanOrEqual(budgetBytes)
  })

  it('loads the access to a chain only when it is used', () => {
    const { outputs } = bundles.modules
    const withEthers = Object.entries(outputs).filter(([, output]) => hasEthers(output))
    expect(withEthers).not.toEqual([])
    const statically = Object.values(outputs).flatMap(({ imports }) =>
      imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path),
    )
    for (const [file] of withEthers) expect(statically).not.toContain(file)
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
