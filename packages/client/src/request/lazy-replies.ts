/** What seals, opens and waits for replies. */
export type Replies = typeof import('./pending-request.ts') & typeof import('./reply-suite.ts')

let loading: Promise<Replies> | undefined

/** Loads it with the first request. Kept here, as importing again what is loaded takes a tenth of a millisecond each time. */
export function loadReplies(): Promise<Replies> {
  loading ??= Promise.all([import('./pending-request.ts'), import('./reply-suite.ts')]).then(
    ([pending, suite]) => ({ ...pending, ...suite }),
  )
  return loading
}
