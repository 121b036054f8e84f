import { mediaLimits } from '../limits.ts'
import type { EncodedFrame } from '../session/track-publisher.ts'

/**
 * The newest group of a file's pictures while they go to nobody. Who is linked first gets all of it at once: there was nobody to send it to, and a
 * file makes no key frame for who asks for one.
 */
export class FirstGroup {
  /** From its key frame on; undefined once somebody is there. */
  #pictures: EncodedFrame[] | undefined = []
  #wentToNobody = false
  #wentToSomebody = false

  /** One of its pictures went to so many neighbours. */
  sent(neighbours: number): void {
    if (neighbours > 0) this.#wentToSomebody = true
    else this.#wentToNobody = true
  }

  /** What is to be sent when this picture is due. */
  next(picture: EncodedFrame): readonly EncodedFrame[] {
    if (this.#pictures === undefined) return [picture]
    if (picture.isKey === true) {
      this.#pictures = [picture]
      this.#wentToNobody = false
    } else if (this.#pictures.length > 0) this.#pictures.push(picture)
    if (this.#pictures.length > mediaLimits.maxWaitingFrames) this.#pictures = []
    if (!this.#wentToSomebody) return [picture]
    const group = this.#pictures
    this.#pictures = undefined
    return this.#wentToNobody && group.length > 0 ? group : [picture]
  }
}
