// Builds the page into dist/page, ready to be served from any path:  node packages/explorer/scripts/bundle.mjs
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Writes the page, and takes away what is left of an earlier build. */
export async function bundleExplorer(target = join(root, 'dist/page')) {
  const source = join(root, 'src/page')
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
  const named = (name, extension) =>
    built.find((file) => file.startsWith(`${name}-`) && file.endsWith(extension))
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('{{script}}', `assets/${named('page', '.js')}`)
    .replace('{{style}}', `assets/${named('style', '.css')}`)
    .replace('{{worker}}', `assets/${named('layout', '.js')}`)
  writeFileSync(join(target, 'index.html'), page)
  cpSync(join(source, 'icon.svg'), join(target, 'icon.svg'))
  for (const file of readdirSync(assets)) if (!built.includes(file)) rmSync(join(assets, file))
  return metafile
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleExplorer()
