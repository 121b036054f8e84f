/// <reference lib="dom" />
import { mediaError, type MediaErrorCode } from '../errors.ts'

/** What browsers call it (W3C "Media Capture and Streams", section 10.3.1). */
const codes: Readonly<Record<string, MediaErrorCode>> = {
  NotAllowedError: 'DEVICE_REFUSED',
  SecurityError: 'DEVICE_REFUSED',
  NotReadableError: 'DEVICE_TAKEN',
  AbortError: 'DEVICE_TAKEN',
  NotFoundError: 'DEVICE_MISSING',
  OverconstrainedError: 'DEVICE_MISSING',
}

/** A camera that is no larger than what is published, and gives as many pictures. */
const camera: MediaTrackConstraints = {
  width: { ideal: 640 },
  height: { ideal: 360 },
  frameRate: { ideal: 30 },
}
const microphone: MediaTrackConstraints = {
  ...{ channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
}

/** As it is played, without what the page itself plays: the others would hear themselves. Where a browser has no such choice, it ignores it. */
const sharedSound: MediaTrackConstraints & { readonly restrictOwnAudio: boolean } = {
  ...{ restrictOwnAudio: true, echoCancellation: false, noiseSuppression: false, autoGainControl: false },
}

/** The camera. Throws DEVICE_REFUSED, DEVICE_TAKEN and DEVICE_MISSING. */
export const openCamera = (): Promise<MediaStream> =>
  open('camera', () => devices().getUserMedia({ video: camera }))

/** The microphone. Throws what `openCamera` throws. */
export const openMicrophone = (): Promise<MediaStream> =>
  open('microphone', () => devices().getUserMedia({ audio: microphone }))

/** A screen or a window that the user chooses, with its sound where the browser has it. Throws what `openCamera` throws. */
export const openScreen = (): Promise<MediaStream> =>
  open('screen', () => devices().getDisplayMedia({ video: { frameRate: { ideal: 8 } }, audio: sharedSound }))

/** A file that is played in this page. */
export interface OpenedFile {
  /** Shows the file. Start it with `play`. */
  readonly element: HTMLVideoElement
  readonly stream: MediaStream
  /** Ends the tracks, and what is published of them, and lets go of the file. Idempotent. */
  close(): void
}

/** A file that the browser can play, played in this page. Throws NO_CODEC where it cannot be published. */
export function openFile(file: Blob): OpenedFile {
  const element = document.createElement('video')
  const { captureStream } = element as HTMLVideoElement & { captureStream?(): MediaStream }
  if (captureStream === undefined) throw mediaError('NO_CODEC', 'it cannot publish what it plays')
  const url = URL.createObjectURL(file)
  element.src = url
  element.playsInline = true
  const stream = captureStream.call(element)
  const close = (): void => {
    for (const track of stream.getTracks().filter(({ readyState }) => readyState === 'live')) {
      track.stop()
      // Browsers tell nobody of a track that the page stops itself.
      track.dispatchEvent(new Event('ended'))
    }
    element.removeAttribute('src')
    element.load()
    URL.revokeObjectURL(url)
  }
  return { element, stream, close }
}

/** Missing where the page is not in a secure context. */
function devices(): MediaDevices {
  const { mediaDevices } = navigator as { mediaDevices?: MediaDevices }
  if (mediaDevices === undefined) throw mediaError('DEVICE_REFUSED', 'the page is not in a secure context')
  return mediaDevices
}

async function open(what: string, ask: () => Promise<MediaStream>): Promise<MediaStream> {
  try {
    return await ask()
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause
    throw mediaError(codes[cause.name] ?? 'DEVICE_TAKEN', `the ${what} (${cause.message || cause.name})`, {
      cause,
    })
  }
}
