/** Bundles the program of the command line from the sources, with what its threads begin with, and the licences of what is in it. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { bundledLicences } from '../../../scripts/bundled-licences.ts'
import { threadEntries } from '../../../scripts/threads/entries.mjs'

const root = join(import.meta.dirname, '../../..')

/** Packages that load files beside their own, and those that are rarely needed. */
const external = [
  '@foundry-rs/*',
  '@inquirer/*',
  'better-sqlite3',
  'cassandra-driver',
  'jsonc-parser',
  'mqtt',
  'node-datachannel',
  'playwright-core',
]

/** The page lies in its own package, wherever that is installed. */
const explorerDirectory: Plugin = {
  name: 'explorer-directory',
  setup: ({ onLoad }) =>
    onLoad({ filter: /packages[\\/]explorer[\\/]src[\\/]index\.ts$/ }, () => ({
      contents: `import { fileURLToPath } from 'node:url'
export const explorerDirectory = fileURLToPath(new URL('./page', import.meta.resolve('@runnel/explorer')))`,
    })),
}

/** Messages of Zod in other languages: 2 MB of memory in each process, and none is ever chosen. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
      resolveDir: join(root, 'node_modules/zod/v4/locales'),
    })),
}

/** An `import` of `node:http` reads all that it exports, and so loads `fetch` and `WebSocket`: 2 MB of memory that a node which uses neither would hold. */
const httpAlone: Plugin = {
  name: 'http-alone',
  setup({ onResolve, onLoad }) {
    const namespace = 'http-alone'
    onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({ path: path.replace('node:', ''), namespace }))
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/** Writes the program, and takes away what is left of an earlier one. */
export async function bundleProgram(outdir: string): Promise<void> {
  rmSync(outdir, { recursive: true, force: true })
  const result = await build({
    absWorkingDir: root,
    entryPoints: { main: 'packages/node/src/main.ts', ...threadEntries },
    outdir,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.13',
    conditions: ['runnel-src'],
    external,
    plugins: [explorerDirectory, englishOnly, httpAlone],
    // CommonJS packages in it ask for modules of Node.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  writeFileSync(join(outdir, 'LICENSES.md'), bundledLicences(root, [result.metafile]))
}
