/** A picture with what is needed to know it again. */
export interface WirePicture {
  readonly number: number
  readonly rendition: number
  readonly isKey: boolean
  readonly data: Uint8Array
}

/** How pictures get from the sender to the receiver. */
export interface SenderWay {
  /** What the next picture may have, in kbit/s; 0: none. */
  kbitPerS(nowMs: number): number
  send(picture: WirePicture): void
  /** Sends content that is of no hurry as fast as it goes, from now on. */
  startBulk(): void
}

export interface ReceiverEvents {
  onPicture(number: number, rendition: number): void
  onBulk(bytes: number): void
}

const headerBytes = 5

/** Number and rendition before the frame. */
export function withHeader({ number, rendition, data }: WirePicture): Uint8Array {
  const bytes = new Uint8Array(headerBytes + data.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, number)
  view.setUint8(4, rendition)
  bytes.set(data, headerBytes)
  return bytes
}

export function headerOf(bytes: Uint8Array): { readonly number: number; readonly rendition: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { number: view.getUint32(0), rendition: view.getUint8(4) }
}
