/// <reference lib="dom" />
/** Not in the DOM's declarations: W3C "MediaStreamTrack Insertable Media Processing using Streams"; Chromium has it in pages. */
interface TrackProcessor {
  readonly readable: ReadableStream<VideoFrame>
}

/** A page that nobody sees draws nothing, so it hears of hardly any picture: it looks for itself this often, or as often as the browser lets it, about once a second. */
const lookEveryMs = 200

type TrackProcessorConstructor = new (options: { readonly track: MediaStreamTrack }) => TrackProcessor

/**
 * The pictures of a track, until it ends or `signal` is aborted; whoever takes one closes it. Where there is no MediaStreamTrackProcessor,
 * a video element shows the track, and each of its pictures is taken.
 */
export function picturesOf(track: MediaStreamTrack, signal: AbortSignal): AsyncGenerator<VideoFrame> {
  const { MediaStreamTrackProcessor: Processor } = globalThis as {
    MediaStreamTrackProcessor?: TrackProcessorConstructor
  }
  return Processor === undefined
    ? fromElement(track, signal)
    : fromProcessor(new Processor({ track }), signal)
}

async function* fromProcessor({ readable }: TrackProcessor, signal: AbortSignal): AsyncGenerator<VideoFrame> {
  const reader = readable.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

async function* fromElement(track: MediaStreamTrack, signal: AbortSignal): AsyncGenerator<VideoFrame> {
  const video = document.createElement('video')
  video.muted = true
  video.playsInline = true
  video.srcObject = new MediaStream([track])
  // One for all pictures: what listens to something that comes once goes only when it comes.
  let wake: () => void = () => {}
  const stop = (): void => wake()
  signal.addEventListener('abort', stop)
  track.addEventListener('ended', stop)
  try {
    await video.play()
    while (!signal.aborted && track.readyState === 'live') {
      const next = Promise.withResolvers<void>()
      wake = next.resolve
      let isNew = false
      const id = video.requestVideoFrameCallback(() => {
        isNew = true
        wake()
      })
      const timer = setTimeout(wake, lookEveryMs)
      await next.promise
      clearTimeout(timer)
      video.cancelVideoFrameCallback(id)
      const isWanted = isNew || document.hidden
      if (isWanted && !signal.aborted && track.readyState === 'live') yield new VideoFrame(video)
    }
  } finally {
    signal.removeEventListener('abort', stop)
    track.removeEventListener('ended', stop)
    video.srcObject = null
  }
}
