import { mediaError } from '../errors.ts'

/** By client, the streams in which it has a session. */
const taken = new WeakMap<object, Set<string>>()

/**
 * Takes the one place that a client has in a stream: all that it publishes there comes from one member, so two sessions would replace each other
 * at the others without end. Returns what frees it. Throws SESSION_INVALID if it is taken.
 */
export function takePlace(client: object, streamId: string): () => void {
  const streams = taken.get(client) ?? new Set()
  if (streams.has(streamId))
    throw mediaError(
      'SESSION_INVALID',
      `this client has a session in ${streamId}; close that one first, or use another client`,
    )
  taken.set(client, streams.add(streamId))
  return () => void streams.delete(streamId)
}
