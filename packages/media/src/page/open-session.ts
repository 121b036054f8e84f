/// <reference lib="dom" />
import type { MediaSession } from '../session/media-session.ts'
import { openSession as open } from '../session/open-session.ts'
import type { MediaSessionModules, MediaSessionOptions } from '../session/session-options.ts'

/** How long a page that is being closed waits for its links to send the goodbye. Browsers close one that takes half a second. */
const lingerMs = 200

/** As in Node; when the page is closed, reloaded or left, the session says goodbye by itself. */
export async function openSession(
  streamId: string,
  options: MediaSessionOptions,
  modules: MediaSessionModules,
): Promise<MediaSession> {
  // Browsers hold back the timers of pages that nobody sees.
  const isTimely = () => document.visibilityState === 'visible'
  const session = await open(streamId, options, { isTimely, ...modules })
  addEventListener('pagehide', () => leave(session), { signal: session.ended })
  return session
}

/**
 * Where a link still has a picture to send, the browser puts the goodbye behind it, and drops both when it closes the page's connections, which it does as soon as
 * this returns. It sends on another thread, so all that a page can do is not to return yet.
 */
function leave(session: MediaSession): void {
  session.leave()
  const untilMs = performance.now() + lingerMs
  while (performance.now() < untilMs) continue
}
