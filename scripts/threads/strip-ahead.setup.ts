import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const packages = join(import.meta.dirname, '../../packages')
/** What threads begin with. */
export const entries = [
  'protocol/src/verification/node-verification-worker.ts',
  'storage/src/store/sqlite/sqlite-worker.ts',
].map((path) => join(packages, path))

/**
 * Fills Node's compile cache (NODE_COMPILE_CACHE, set by vitest.config.ts) with what threads load, before any test starts one. Node strips types with WebAssembly, and a
 * process in which threads that used it come and go may be aborted by V8 (https://github.com/nodejs/node/issues/64500). With the cache they
 * strip nothing, and start three times as fast.
 */
export default function setup(): void {
  // As modules of a main thread they lack what threads are given, and may say so: they are stripped by then.
  const load = entries.map((path) => `await import(${JSON.stringify(path)}).catch(() => {})`).join('\n')
  execFileSync(process.execPath, ['--conditions=runnel-src', '--input-type=module', '--eval', load])
}
