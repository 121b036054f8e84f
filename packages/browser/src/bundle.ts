/** Bundles the client for pages. As a program: writes `dist/page/`. */
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type BuildOptions, type Metafile } from 'esbuild'

const packageRoot = join(dirname(fileURLToPath(import.meta.url)), '..')

/** How code of ours is bundled for a page: from the sources, with what each package has for browsers. */
export const pageOptions = {
  bundle: true,
  format: 'esm',
  target: 'es2023',
  platform: 'browser',
  conditions: ['browser', 'runnel-src'],
  legalComments: 'none',
  minify: true,
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

export interface PageBundles {
  /** `runnel.js`, and beside it what it loads when it is used: the access to a chain. */
  readonly modules: Metafile
  /** `runnel.single.js`: all of it in one file. */
  readonly single: Metafile
}

/** Writes the ES module build, the single file, and the worker that either starts where there is much to verify; makes the folder, which has to be there before esbuild works in it. */
export async function bundleForPages(outdir: string): Promise<PageBundles> {
  const entry = join(packageRoot, 'src/index.ts')
  const worker = join(packageRoot, '../protocol/src/verification/page-verification-worker.ts')
  await mkdir(outdir, { recursive: true })
  const [modules, single] = await Promise.all([
    build({
      ...pageOptions,
      entryPoints: { runnel: entry },
      outdir,
      splitting: true,
      chunkNames: 'runnel-[name]-[hash]',
      absWorkingDir: outdir,
    }),
    build({ ...pageOptions, entryPoints: { 'runnel.single': entry }, outdir, absWorkingDir: outdir }),
    // By itself: shared with the others, what it takes would be in more and smaller files of theirs.
    build({ ...pageOptions, entryPoints: [worker], outdir, absWorkingDir: outdir }),
  ])
  return { modules: modules.metafile, single: single.metafile }
}

/** Writes one program for a page into one file. */
export async function bundleProgram(entry: string, outfile: string): Promise<void> {
  await build({ ...pageOptions, entryPoints: [entry], outfile, absWorkingDir: dirname(outfile) })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outdir = join(packageRoot, 'dist/page')
  await rm(outdir, { recursive: true, force: true })
  await bundleForPages(outdir)
}
