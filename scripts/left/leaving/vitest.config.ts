import { defineConfig } from 'vitest/config'

/** A run of one test, which leaves a process: left-processes.test.ts. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    pool: 'forks',
    globalSetup: '../left-processes.setup.ts',
    include: ['leaves.testkit.ts'],
  },
})
