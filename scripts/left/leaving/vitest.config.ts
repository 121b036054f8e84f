import { defineConfig } from 'vitest/config'

/** Runs of one test, which leaves a process and a file: left-processes.test.ts. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    pool: 'forks',
    globalSetup: '../left.setup.ts',
    include: ['*.testkit.ts'],
    disableConsoleIntercept: true,
  },
})
