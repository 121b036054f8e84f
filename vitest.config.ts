import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

// Tests run against the sources, through the condition "runnel-src" of each package's exports; only child processes need a build.
const conditions = ['runnel-src', 'module', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['{packages,contracts,bench,sim,emulation,scripts,examples}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // Native add-ons (node-datachannel) want a process of their own, not a thread.
    pool: 'forks',
    // One of two processors would be left idle otherwise: tests wait for sockets and processes more than they compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    allowOnly: false,
  },
})
