import { isRunnelError } from '@runnel/protocol'
import { mediaError } from '../errors.ts'
import { checkOptions } from '../options.ts'
import { MediaSession } from './media-session.ts'
import {
  mistakeInModules,
  mistakeInSession,
  sessionOptions,
  type MediaSessionModules,
  type MediaSessionOptions,
} from './session-options.ts'
import { takePlace } from './session-place.ts'

/**
 * Joins a session of sound and pictures in a stream: its members and their tracks. A client has one session in a stream at a time, which ends when
 * the client is closed, too. Throws OPTIONS_INVALID, SESSION_INVALID, and what `getStream` and `subscribe` throw.
 */
export async function openSession(
  streamId: string,
  options: MediaSessionOptions,
  modules: MediaSessionModules,
): Promise<MediaSession> {
  checkOptions('openSession', options, sessionOptions)
  const mistake = mistakeInSession(options) ?? mistakeInModules(modules)
  if (mistake !== undefined) throw mediaError('SESSION_INVALID', mistake)
  const { id, partitions } = await modules.client.getStream(streamId)
  const leavePlace = takePlace(modules.client, id)
  try {
    const session = new MediaSession(streamId, { ...options, partitions }, modules)
    session.ended.addEventListener('abort', leavePlace)
    // Its timers would keep the process, and tell of the same fault every few seconds.
    session.on('fault', (error) => {
      if (isRunnelError(error, 'CLIENT_CLOSED')) void session.close()
    })
    await session.start()
    return session
  } catch (error) {
    leavePlace()
    throw error
  }
}
