import { defineConfig } from 'vitest/config'

/** Runs of one test, which leaves a process: left-processes.test.ts. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    pool: 'forks',
    globalSetup: '../left-processes.setup.ts',
    include: ['*.testkit.ts'],
    disableConsoleIntercept: true,
  },
})
