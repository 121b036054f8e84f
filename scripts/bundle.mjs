// Bundles what `npm start` runs, straight from the sources: the program of the command line and the page of the explorer. That takes seconds where the
// compiler takes a minute, and a bundled program starts in half the time. packages/node/bin/program.js tells which of the two is run.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { programDirectory, writeStamp } from './bundled.mjs'
import { threadEntries } from './threads/entries.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

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

/** The page lies elsewhere, seen from the bundle. */
const explorerDirectory = {
  name: 'explorer-directory',
  setup: ({ onLoad }) =>
    onLoad({ filter: /packages[\\/]explorer[\\/]src[\\/]index\.ts$/ }, () => ({
      contents: `import { fileURLToPath } from 'node:url'
export const explorerDirectory = fileURLToPath(new URL('../../../explorer/dist/page', import.meta.url))`,
    })),
}

/** Messages of Zod in other languages: 2 MB of memory in each process, and none is ever chosen. */
const englishOnly = {
  name: 'english-only',
  setup: ({ onLoad }) =>
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
      resolveDir: join(root, 'node_modules/zod/v4/locales'),
    })),
}

rmSync(join(root, programDirectory), { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'packages/node/src/main.ts',
    ...threadEntries,
  },
  outdir: programDirectory,
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  conditions: ['runnel-src'],
  external,
  plugins: [explorerDirectory, englishOnly],
  // CommonJS packages in it ask for modules of Node.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
})

const page = ['--conditions=runnel-src', 'packages/explorer/src/bundle.ts']
const { status } = spawnSync(process.execPath, page, { cwd: root, stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(1)

// Last: what was not finished is begun anew.
writeStamp()
