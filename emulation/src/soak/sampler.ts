/**
 * Loaded into a process before its program (`node --import`): writes what the process holds into the file that
 * `RUNNEL_SOAK_SAMPLES` names, a line of JSON every `RUNNEL_SOAK_EVERY_MS` milliseconds.
 */
import { appendFileSync, readdirSync } from 'node:fs'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const file = process.env['RUNNEL_SOAK_SAMPLES']
const everyMs = Number(process.env['RUNNEL_SOAK_EVERY_MS'])
if (file !== undefined && everyMs > 0 && isMainThread) sampleInto(file)

function sampleInto(file: string): void {
  const every = setInterval.bind(globalThis)
  const timers = countedTimers()
  // What is live is what a collection leaves; between two of them the heap says more of V8 than of the program.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  every(() => {
    collect()
    const { rss, external } = process.memoryUsage()
    const sample = {
      atMs: Date.now(),
      rssBytes: rss,
      heapBytes: objectBytes(),
      externalBytes: external,
      descriptors: readdirSync('/proc/self/fd').length,
      timers: timers.size,
    }
    appendFileSync(file, `${JSON.stringify(sample)}\n`)
  }, everyMs).unref()
}

/** The heap without compiled code: V8 goes on optimizing functions for hours, and throws away those that are not called. */
function objectBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !/code|trusted/.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}

/**
 * The timers that wait. Node's own list (`process.getActiveResourcesInfo`) leaves out those that do not keep the process alive,
 * which ours are.
 */
function countedTimers(): ReadonlySet<unknown> {
  const waiting = new Set<unknown>()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const counted = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const timer = set(
      (...given: unknown[]) => {
        waiting.delete(timer)
        work(...given)
      },
      ms,
      ...args,
    )
    waiting.add(timer)
    return timer
  }
  globalThis.setTimeout = Object.assign(counted, set) as typeof setTimeout
  Object.defineProperties(globalThis.setTimeout, Object.getOwnPropertyDescriptors(set))
  globalThis.clearTimeout = (timer) => {
    waiting.delete(timer)
    clear(timer)
  }
  return waiting
}
