import { throwIfAborted } from '../deadline.ts'
import { abortable } from './abortable.ts'

/** The store of a program's sessions, or of all tabs of an origin. */
export interface SessionStore {
  get(name: string): string | undefined
  set(name: string, text: string): void
  remove(name: string): void
  /** Runs `run` when all earlier calls under this name have ended, whoever shares the store. Throws ABORTED. */
  exclusively<T>(name: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Makes a store in memory, which ends with the process. */
export function memoryStore(): SessionStore {
  const texts = new Map<string, string>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    get: (name) => texts.get(name),
    set: (name, text) => void texts.set(name, text),
    remove: (name) => void texts.delete(name),
    // One queue for all names: little is asked of it.
    exclusively(_name, run, signal) {
      const running = last.then(() => {
        throwIfAborted(signal)
        return run()
      })
      last = running.catch(() => {})
      return abortable(running, signal)
    },
  }
}
