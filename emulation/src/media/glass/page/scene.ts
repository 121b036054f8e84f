/// <reference lib="dom" />
import { paintTime } from '../../../../../packages/media/src/page/painted-time.testkit.ts'
import { addSoundPrograms, soundContext } from './sound-programs.ts'

const size = { width: 640, height: 360 }
const picturesPerS = 30

/** What a publisher shows and says: pictures with the time painted into them, and sound with clicks. */
export interface Scene {
  readonly pictures: MediaStreamTrack
  readonly sound: MediaStreamTrack
  /** When each click began, Unix milliseconds. */
  readonly clicksMs: readonly number[]
}

export async function openScene(clickEveryMs: number): Promise<Scene> {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, size)
  const context = canvas.getContext('2d')
  if (context === null) throw new Error('no canvas')
  setInterval(() => paintTime(context, Date.now()), 1_000 / picturesPerS)
  const [pictures] = canvas.captureStream(picturesPerS).getVideoTracks()
  const sounds = await soundContext()
  await addSoundPrograms(sounds)
  const mouth = new AudioWorkletNode(sounds, 'mouth', {
    numberOfInputs: 0,
    processorOptions: { everyMs: clickEveryMs },
  })
  const clicksMs: number[] = []
  mouth.port.onmessage = ({ data }: MessageEvent<number>) => void clicksMs.push(data)
  const destination = new MediaStreamAudioDestinationNode(sounds, { channelCount: 1 })
  mouth.connect(destination)
  const [sound] = destination.stream.getAudioTracks()
  if (pictures === undefined || sound === undefined) throw new Error('no tracks')
  return { pictures, sound, clicksMs }
}
