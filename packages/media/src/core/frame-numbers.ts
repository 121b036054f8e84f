/** What a frame of an encoder is numbered by. */
export interface EncodedPicture {
  readonly isKey: boolean
  /** As its encoder says; 0 where it makes no layers. */
  readonly temporalLayer: number
}

export interface PictureNumber {
  /** 0 begins a group. */
  readonly object: number
  /** How far back the picture is that it builds on: see `VideoObject`. */
  readonly dependency: number
}

/** The largest value of one byte. */
const maxDependency = 255

/**
 * Numbers the pictures of one encoder. Each builds on the last one of a layer below its own, those of layer 0 on the last of layer 0: what
 * the modes L1T1 to L1T3 of scalable encoders do (W3C "Scalable Video Coding Extension for WebRTC", section 7), or less.
 */
export class FrameNumbers {
  /** The next object; undefined before the first key frame. */
  #next: number | undefined
  /** The last object of each layer of this group. */
  #last: (number | undefined)[] = []

  /** Undefined for what nobody could decode: before the first key frame, or too far from what it builds on. */
  number({ isKey, temporalLayer }: EncodedPicture): PictureNumber | undefined {
    if (isKey) {
      this.#next = 1
      this.#last = [0]
      return { object: 0, dependency: 0 }
    }
    if (this.#next === undefined) return undefined
    const object = this.#next++
    const below = this.#last.slice(0, Math.max(temporalLayer, 1))
    const dependency = object - Math.max(...below.map((last) => last ?? 0))
    this.#last[temporalLayer] = object
    return dependency > maxDependency ? undefined : { object, dependency }
  }
}
