import type { PlacedPicture } from '../core/frame-order.ts'
import { mediaLimits } from '../limits.ts'

/** A picture that was read, with the codec that it is in. */
export interface QueuedPicture extends PlacedPicture {
  readonly codec: string
}

/** Pictures of one track that were read, in the order of their decoder, until it is their turn. */
export class PictureQueue {
  #pictures: QueuedPicture[] = []
  /** Of the group that is taken: objects that were, without which others cannot be decoded. */
  #taken = new Set<number>()
  #isFull = false
  #leftOut = 0

  get length(): number {
    return this.#pictures.length
  }

  /** Pictures that there was no room for. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Whether one of that time or before waits. */
  hasUpTo(timestampUs: number): boolean {
    return this.#pictures.some((picture) => picture.timestampUs <= timestampUs)
  }

  push(picture: QueuedPicture): void {
    if (this.#pictures.length >= mediaLimits.maxQueuedPictures) this.#isFull = true
    else if (picture.isKey) this.#isFull = false
    if (this.#isFull) this.#leftOut++
    else this.#pictures.push(picture)
  }

  /** Drops what is before the newest key frame of that time or before. */
  skipTo(timestampUs: number): void {
    const key = this.#pictures.findLastIndex((picture) => picture.isKey && picture.timestampUs <= timestampUs)
    if (key > 0) this.#pictures.splice(0, key)
  }

  /** The next one to be decoded, at that time: of layers up to `maxLayer`, and only what builds on what was taken before. */
  take(timestampUs: number, maxLayer: number): QueuedPicture | undefined {
    this.skipTo(timestampUs)
    for (;;) {
      const picture = this.#pictures.shift()
      if (picture === undefined) return undefined
      const { isKey, object, dependency, temporalLayer } = picture
      if (isKey) this.#taken.clear()
      else if (temporalLayer > maxLayer || !this.#taken.has(object - dependency)) continue
      this.#taken.add(object)
      // What builds on others is at most 255 behind.
      this.#taken.delete(object - 256)
      return picture
    }
  }

  clear(): void {
    this.#pictures = []
    this.#taken.clear()
    this.#isFull = false
  }
}
