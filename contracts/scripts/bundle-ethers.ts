/** Bundles what `src/ethers.ts` names of ethers, with its types and licences, for the package of others. As a program: writes `dist/bundled/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, type BuildResult } from 'esbuild'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const contracts = join(import.meta.dirname, '..')
const entry = join(contracts, 'src/ethers.ts')

/** Writes `ethers.js` for Node, `ethers.browser.js`, `ethers.d.ts` and `LICENSES.md`. */
export async function bundleEthers(outdir: string): Promise<void> {
  await mkdir(outdir, { recursive: true })
  const [inNode, inPage] = await Promise.all([
    bundleCode(join(outdir, 'ethers.js'), 'node'),
    bundleCode(join(outdir, 'ethers.browser.js'), 'browser'),
    bundleTypes(join(outdir, 'ethers.d.ts')),
  ])
  await writeFile(join(outdir, 'LICENSES.md'), licences([inNode, inPage]))
}

const bundleCode = (outfile: string, platform: 'node' | 'browser') =>
  build({
    ...{ entryPoints: [entry], outfile, platform, absWorkingDir: contracts },
    ...{ bundle: true, format: 'esm', target: 'es2023', legalComments: 'none' },
    ...{ metafile: true, logLevel: 'warning' },
  })

async function bundleTypes(file: string): Promise<void> {
  const bundle = await rollup({
    input: entry,
    plugins: [dts({ includeExternal: ['ethers'] })],
    // Types of Node that nothing here needs: they are not in the result.
    external: ['net'],
    onwarn: (warning) => {
      throw new Error(warning.message)
    },
  })
  await bundle.write({ file })
  await bundle.close()
}

/** The licence of every package of which there is code, once each. */
function licences(results: readonly BuildResult[]): string {
  const folders = results
    .flatMap(({ metafile }) => Object.values(metafile?.outputs ?? {}))
    .flatMap(({ inputs }) => Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0))
    .flatMap(([input]) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [])
    .map((folder) => resolve(contracts, folder))
  return [...new Set(folders)].toSorted().map(licenceOf).join('\n')
}

function licenceOf(folder: string): string {
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const { name, version } = JSON.parse(manifest) as { readonly name: string; readonly version: string }
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  if (file === undefined) throw new Error(`${name} has no licence beside it`)
  return `## ${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}

if (process.argv[1] === import.meta.filename) await bundleEthers(join(contracts, 'dist/bundled'))
