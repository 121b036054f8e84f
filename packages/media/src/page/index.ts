export * from '../index.ts'
export { openSession } from './open-session.ts'
export { openCamera, openFile, openMicrophone, openScreen, type OpenedFile } from './devices.ts'
export { supportedCodecs } from './codecs.ts'
export { publishAudio, type PublishAudioOptions, type PublishedAudio } from './publish-audio.ts'
export { publishVideo } from './publish-video.ts'
export {
  screenRenditions,
  usualRenditions,
  type PublishedVideo,
  type PublishVideoOptions,
  type RenditionCounters,
  type RenditionOptions,
} from './video-options.ts'
export { SessionPlayer, type PlayerReport } from './session-player.ts'
export type { MemberReport } from './member-player.ts'
export { playbackRates, RecordingPlayer, type RecordingEvents } from './recording-player.ts'
export { Thumbnails } from './thumbnails.ts'
