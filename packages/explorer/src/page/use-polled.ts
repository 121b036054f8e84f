import { useEffect, useRef, useState } from 'preact/hooks'

/** What was last read, and why it could not be read anew. */
export interface Polled<T> {
  /** Undefined until it was read for the first time. */
  readonly value: T | undefined
  /** When, in milliseconds since the page was opened. */
  readonly readAtMs: number
  /** Why the newest attempt failed; undefined when it did not. */
  readonly failure: unknown
}

/** Longest wait before a retry after a failure. */
const retryEveryMs = 2_000

const nothingYet = { value: undefined, readAtMs: 0, failure: undefined }

/**
 * Reads something now and again `everyMs` after each answer, sooner after a failure, while the page is seen. `key` names what is read: when it
 * changes, what was read is forgotten; while it is undefined nothing is read.
 */
export function usePolled<T>(
  key: string | undefined,
  everyMs: number,
  read: (signal: AbortSignal) => Promise<T>,
): Polled<T> {
  const [state, setState] = useState<Polled<T> & { readonly key: string | undefined }>({ ...nothingYet, key })
  const newestRead = useRef(read)
  newestRead.current = read
  useEffect(() => {
    if (key === undefined) return
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isReading = false
    // A failure is part of the state.
    const wake = () => void poll()
    const poll = async () => {
      if (isReading || document.hidden) return
      isReading = true
      clearTimeout(timer)
      let failed = false
      try {
        const value = await newestRead.current(stop.signal)
        if (stop.signal.aborted) return
        setState({ key, value, readAtMs: performance.now(), failure: undefined })
      } catch (failure) {
        failed = true
        if (stop.signal.aborted) return
        setState((before) => ({ ...(before.key === key ? before : nothingYet), key, failure }))
      }
      isReading = false
      timer = setTimeout(wake, failed ? Math.min(everyMs, retryEveryMs) : everyMs)
    }
    void poll()
    document.addEventListener('visibilitychange', wake)
    addEventListener('online', wake)
    return () => {
      stop.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', wake)
      removeEventListener('online', wake)
    }
  }, [key, everyMs])
  return state.key === key ? state : nothingYet
}
