import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { pageOptions } from '../bundle.ts'

const here = dirname(fileURLToPath(import.meta.url))

/** Writes `suite.js`, which puts `suite` into a page. */
export async function bundleSuite(directory: string): Promise<void> {
  await build({
    ...pageOptions,
    absWorkingDir: here,
    entryPoints: [join(here, 'page-suite.testkit.ts')],
    outfile: join(directory, 'suite.js'),
    alias: { vitest: join(here, 'vitest-shim.testkit.ts') },
  })
}
