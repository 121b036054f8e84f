import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { threadEntries } from './entries.mjs'

/** The sources that threads begin with. */
export const entries = Object.values(threadEntries).map((path) => join(import.meta.dirname, '../..', path))

/**
 * Fills Node's compile cache (NODE_COMPILE_CACHE, set by vitest.config.ts) with what threads load, before any test starts one. Node strips
 * types with WebAssembly, and V8 may abort a process in which threads that used it come and go (https://github.com/nodejs/node/issues/64500).
 * With the cache they strip nothing, and start three times as fast.
 */
export default function setup(): void {
  // As modules of a main thread they lack what threads are given, and may say so: they are stripped by then.
  const load = entries.map((path) => `await import(${JSON.stringify(path)}).catch(() => {})`).join('\n')
  execFileSync(process.execPath, ['--conditions=runnel-src', '--input-type=module', '--eval', load])
}
