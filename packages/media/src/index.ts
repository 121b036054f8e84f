export { openSession } from './session/open-session.ts'
export { MediaSession, type SessionCounters } from './session/media-session.ts'
export type { MediaEvents, ObjectPlace } from './session/session-events.ts'
export type { MediaSessionModules, MediaSessionOptions } from './session/session-options.ts'
export type { NewTrack } from './session/new-track.ts'
export type { LeaveReason, Member } from './session/member.ts'
export type { EncodedFrame, TrackCounters, TrackEvents, TrackPublisher } from './session/track-publisher.ts'
export type { AudioTrack, Catalogue, Track, VideoTrack } from './catalogue/catalogue.ts'
export type { AudioObject, MediaObject, VideoObject } from './core/media-object.ts'
export { ActiveSpeaker } from './core/active-speaker.ts'
export { FrameOrder, type FrameCounters, type PlacedPicture } from './core/frame-order.ts'
export {
  JitterBuffer,
  type AudioStep,
  type BufferedFrame,
  type JitterCounters,
} from './core/jitter-buffer.ts'
export { createOpusEncoder, OpusPlayback, type OpusEncoder } from './opus/opus.ts'
export {
  publishIvf,
  publishOgg,
  type PublishFileOptions,
  type PublishIvfOptions,
} from './files/publish-files.ts'
export type { Pieces } from './files/bytes-reader.ts'
export {
  recordSession,
  SessionRecorder,
  type RecordedCounters,
  type SessionRecorderModules,
  type SessionRecordingOptions,
} from './recording/session-recorder.ts'
export { openRecording, type OpenRecordingOptions } from './recording/open-recording.ts'
export {
  MediaRecording,
  type ReadOptions,
  type RecordedObject,
  type RecordingModules,
} from './recording/recording.ts'
export type { TimeLine, TimeRange } from './recording/time-line.ts'
export type { KeyFrame } from './recording/recording-note.ts'
export { thumbnailTimes } from './recording/thumbnail-times.ts'
export { mediaErrors, type MediaErrorCode } from './errors.ts'
export { mediaLimits } from './limits.ts'
