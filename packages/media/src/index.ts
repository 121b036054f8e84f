export { openSession, MediaSession } from './session/media-session.ts'
