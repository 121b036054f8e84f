/// <reference lib="dom" />
import {
  openSession as open,
  type MediaSession,
  type MediaSessionModules,
  type MediaSessionOptions,
} from '../session/media-session.ts'

/** As in Node; when the page is closed, reloaded or left, the session says goodbye by itself. */
export async function openSession(
  streamId: string,
  options: MediaSessionOptions,
  modules: MediaSessionModules,
): Promise<MediaSession> {
  // Browsers hold back the timers of pages that nobody sees.
  const isTimely = () => document.visibilityState === 'visible'
  const session = await open(streamId, options, { isTimely, ...modules })
  addEventListener('pagehide', () => session.leave(), { signal: session.ended })
  return session
}
