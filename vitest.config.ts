import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests run against the sources, through the condition "runnel-src" of each package's exports; only child processes need a build.
const conditions = ['runnel-src', 'module', 'node', 'development|production']

// Processes and threads that run from the sources find them stripped of types: scripts/threads/strip-ahead.setup.ts.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.tools/compile-cache')

const exclude = ['**/node_modules/**', '**/dist/**']
/** Browsers that encode and play in real time: each of these takes both processors, and pictures pause where it has to share them. */
const realTime = [
  'emulation/src/media/**/*.test.ts',
  'examples/room/*.test.ts',
  'packages/media/src/page/*.test.ts',
]

/** They take a minute or more each. Beside the first, which has a browser and a network, those that take one processor. */
const long = [
  ...['scripts/pages/pages', 'fuzz/attack', 'fuzz/fuzz', 'scenarios/one-link', 'scenarios/room/room-run'],
  ...[
    'scripts/packages/installed',
    'scripts/packages/arm64',
    'commands/small-runs',
    'bench/src/resend/resend',
  ],
].map((path) => `${path}.test.ts`)

/** The long ones first. Where no durations are known, as in a fresh clone, small files come last, and a long one would be left alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      (long.findIndex((path) => moduleId.endsWith(path)) + long.length + 1) % (long.length + 1)
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    // Native add-ons (node-datachannel) want a process of their own, not a thread.
    pool: 'forks',
    sequence: { sequencer: LongFirst },
    globalSetup: ['scripts/left/left.setup.ts', 'scripts/threads/strip-ahead.setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A busy machine may stand still for longer than the second that is the default.
    expect: { poll: { timeout: 60_000 } },
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['{packages,contracts,bench,sim,emulation,scripts,examples}/**/*.test.ts'],
          exclude: [...exclude, ...realTime],
          // One of two processors would be left idle otherwise: tests wait for sockets and processes more than they compute.
          // A third worker brings nothing there: everything takes as much longer.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'real time', include: realTime, exclude, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
