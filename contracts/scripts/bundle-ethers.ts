/** Bundles what `src/ethers.ts` names of ethers, with its types and licences, for the package of others. As a program: writes `dist/bundled/`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { bundledLicences } from '../../scripts/bundled-licences.ts'

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
  await writeFile(join(outdir, 'LICENSES.md'), bundledLicences(contracts, [inNode.metafile, inPage.metafile]))
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

if (process.argv[1] === import.meta.filename) await bundleEthers(join(contracts, 'dist/bundled'))
