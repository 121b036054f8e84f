/// <reference lib="dom" />
import { mediaError } from '../errors.ts'

/** A browser starts sound at once, or waits without an end: for something that plays it, or for somebody to touch the page. */
const startWithinMs = 5_000

/** Resolves when sound runs in a context; Firefox records none, too, where it can play none. Throws SOUND_BLOCKED. */
export async function startSound(context: Pick<AudioContext, 'resume'>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(mediaError('SOUND_BLOCKED', `it did not within ${startWithinMs / 1_000} s`)),
    startWithinMs,
  )
  await Promise.race([context.resume(), late]).finally(() => clearTimeout(timer))
}
