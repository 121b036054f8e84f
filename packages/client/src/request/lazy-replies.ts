const load = async () => {
  const [{ PendingRequest }, { newReplyKeys, newReplySealer }] = await Promise.all([
    import('./pending-request.ts'),
    import('./reply-suite.ts'),
  ])
  return { PendingRequest, newReplyKeys, newReplySealer }
}

let loading: ReturnType<typeof load> | undefined

/**
 * What seals, opens and waits for replies, loaded with the first request; again where that failed. Kept here, as importing what was loaded
 * takes a tenth of a millisecond each time.
 */
export function loadReplies(): ReturnType<typeof load> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}
