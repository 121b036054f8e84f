/// <reference lib="dom" />

const size = { width: 640, height: 360 }
const framesPerS = 30
const bitsPerS = 1_000_000
const chunkMs = 1_000

/** Records what a page shows and plays, into memory that is let go of again; gives how many bytes it was so far. */
export function recordShown(canvases: () => readonly HTMLCanvasElement[], heard: AudioNode): () => number {
  const whole = document.createElement('canvas')
  Object.assign(whole, size)
  const context = whole.getContext('2d')
  setInterval(() => {
    const shown = canvases()
    const columns = Math.ceil(Math.sqrt(shown.length))
    const [width, height] = [size.width / columns, size.height / columns]
    for (const [i, canvas] of shown.entries())
      context?.drawImage(canvas, (i % columns) * width, Math.floor(i / columns) * height, width, height)
  }, 1_000 / framesPerS)
  const sound = new MediaStreamAudioDestinationNode(heard.context as AudioContext)
  heard.connect(sound)
  const tracks = [...whole.captureStream(framesPerS).getTracks(), ...sound.stream.getTracks()]
  const recorder = new MediaRecorder(new MediaStream(tracks), {
    mimeType: 'video/webm;codecs=vp8,opus',
    videoBitsPerSecond: bitsPerS,
  })
  let bytes = 0
  recorder.addEventListener('dataavailable', ({ data }) => void (bytes += data.size))
  recorder.start(chunkMs)
  return () => bytes
}
