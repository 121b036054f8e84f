/// <reference lib="dom" />
import { readTime } from '../../../../../packages/media/src/page/painted-time.testkit.ts'
import type { ShownPicture } from '../glass-figures.ts'
import { addSoundPrograms, soundContext } from './sound-programs.ts'

/** Large enough for the blocks that the time is painted in. */
const size = { width: 120, height: 50 }

/** Writes down what is shown and heard, and when. */
export class Witness {
  readonly shown: ShownPicture[] = []
  /** When a click was heard, Unix milliseconds. */
  readonly heardMs: number[] = []
  /** Where the sound is to go. */
  readonly ear: AudioNode
  readonly context: AudioContext

  private constructor(context: AudioContext, ear: AudioWorkletNode) {
    this.context = context
    this.ear = ear
    ear.port.onmessage = ({ data }: MessageEvent<number>) => void this.heardMs.push(data)
  }

  static async open(): Promise<Witness> {
    const context = await soundContext()
    await addSoundPrograms(context)
    return new Witness(context, new AudioWorkletNode(context, 'ear', { numberOfOutputs: 0 }))
  }

  /** Looks, with each picture of the screen, at what is painted there. */
  watch(source: () => HTMLCanvasElement | HTMLVideoElement | undefined): void {
    const canvas = document.createElement('canvas')
    Object.assign(canvas, size)
    const context = canvas.getContext('2d', { willReadFrequently: true })
    if (context === null) throw new Error('no canvas')
    let lastMs = 0
    const look = (): void => {
      requestAnimationFrame(look)
      const seen = source()
      if (seen === undefined) return
      context.drawImage(seen, 0, 0, size.width, size.height)
      const [paintedMs, shownMs] = [readTime(canvas), Date.now()]
      // A picture of the wrong bits is of another time.
      if (paintedMs === undefined || paintedMs <= lastMs || paintedMs > shownMs) return
      lastMs = paintedMs
      this.shown.push({ paintedMs, shownMs })
    }
    look()
  }
}
