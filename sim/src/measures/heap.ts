import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes that this process holds in its heap and in buffers, after two collections. */
export function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/**
 * Has the collector look through the old heap when that has doubled. By itself V8 does so with each tenth, as it has little time while much is kept: with gigabytes of
 * nodes that takes half of all processor time.
 */
export function collectSeldom(): void {
  setFlagsFromString('--heap-growing-percent=100')
}
