import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOptions } from '@runnel/browser/bundle'
import { build, stop as stopBundler } from 'esbuild'

export interface BundledFile {
  readonly type: string
  readonly body: string | Uint8Array
}

/** Bundles a script, and gives the files of a page with it alone, by their paths: '/' is the page. */
export async function bundlePage(script: URL, title: string): Promise<ReadonlyMap<string, BundledFile>> {
  const folder = fileURLToPath(new URL('.', script))
  const { outputFiles } = await build({
    ...pageOptions,
    absWorkingDir: folder,
    entryPoints: { main: fileURLToPath(script) },
    outdir: folder,
    splitting: true,
    // What libopus-wasm asks for in Node only.
    external: ['node:module'],
    write: false,
  })
  // Its process would count as the machine's.
  await stopBundler()
  const body = `<!doctype html><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,">
<script type="module" src="main.js"></script>`
  return new Map<string, BundledFile>([
    ['/', { type: 'text/html', body }],
    ...outputFiles.map(
      ({ path, contents }) => [`/${basename(path)}`, { type: 'text/javascript', body: contents }] as const,
    ),
  ])
}
