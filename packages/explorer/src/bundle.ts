/** Bundles the page, ready to be served from any path. As a program: writes `dist/page/`. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { explorerDirectory } from './index.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'src/page')

/** Writes the page, and takes away what is left of an earlier build. */
export async function bundleExplorer(target: string): Promise<void> {
  const assets = join(target, 'assets')
  mkdirSync(assets, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      page: join(source, 'main.tsx'),
      style: join(source, 'style.css'),
      layout: join(source, 'layout/layout-worker.ts'),
    },
    outdir: assets,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2023',
    platform: 'browser',
    conditions: ['browser', 'runnel-src'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.woff2': 'file' },
    legalComments: 'none',
    minify: true,
    metafile: true,
    logLevel: 'warning',
  })
  const built = Object.keys(metafile.outputs).map((path) => relative(assets, join(root, path)))
  const named = (name: string, extension: string) =>
    `assets/${built.find((file) => file.startsWith(`${name}-`) && file.endsWith(extension))}`
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('{{script}}', named('page', '.js'))
    .replace('{{style}}', named('style', '.css'))
    .replace('{{worker}}', named('layout', '.js'))
  copyFileSync(join(source, 'icon.svg'), join(target, 'icon.svg'))
  writeFileSync(join(target, 'index.html'), page)
  for (const file of readdirSync(assets)) if (!built.includes(file)) rmSync(join(assets, file))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleExplorer(explorerDirectory)
