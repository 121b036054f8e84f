import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/media`. Their summaries are sentences that a page can show. */
export const mediaErrors = {
  DEVICE_REFUSED: {
    summary: 'The camera or microphone may not be used',
    remedy:
      'Allow it for this page in the settings of the browser. You can see and hear the others without it.',
  },
  DEVICE_TAKEN: {
    summary: 'The camera or microphone is in use by another program',
    remedy: 'Close the other program, and try again.',
  },
  DEVICE_MISSING: {
    summary: 'There is no such camera or microphone',
    remedy: 'Connect one, and try again. You can see and hear the others without it.',
  },
  SOUND_BLOCKED: {
    summary: 'This browser does not start sound',
    remedy:
      'Connect loudspeakers or headphones, touch the page, and try again. You can see the others without it.',
  },
  SOUND_REFUSED: {
    summary: 'This page may not encode or play sound',
    remedy:
      "Serve it with script-src 'wasm-unsafe-eval' blob: in its content security policy. You can see the others without it.",
  },
  NO_CODEC: {
    summary: 'This browser cannot encode video',
    remedy: 'Use a browser with WebCodecs: Chromium 94, Firefox 130, Safari 16.4, or later.',
  },
  OPTIONS_INVALID: { summary: 'The options are invalid', remedy: 'Correct what the message names.' },
  TRACK_INVALID: { summary: 'The track is invalid', remedy: 'Correct what the message names.' },
  FILE_INVALID: {
    summary: 'The file is damaged, or has an unsupported format',
    remedy: 'Give Opus in Ogg (.opus), or VP8, VP9 or AV1 in IVF.',
  },
  RECORDING_EMPTY: {
    summary: 'There is no recording here, or none that you can read',
    remedy: 'Use the whole link of the recording, and wait until the storage node has it.',
  },
  RECORDING_DAMAGED: {
    summary: 'A part of the recording is missing or damaged',
    remedy: 'Playback continues with the rest. Another storage node may have what is missing.',
  },
  SESSION_INVALID: {
    summary: 'The session cannot be opened',
    remedy: 'Correct what the message names.',
  },
  SESSION_CLOSED: { summary: 'The session is closed', remedy: 'Open another one.' },
} as const satisfies ErrorTable

export type MediaErrorCode = keyof typeof mediaErrors
export const mediaError = errorFactory(mediaErrors)
