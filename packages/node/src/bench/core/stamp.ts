/** What a message of a run says of itself, in its first bytes. */
export interface Stamp {
  readonly runId: number
  /** Of several benches that publish in the same run, which one: their users have the same numbers. Below 2^16. */
  readonly sender: number
  /** Number of the user that published it. */
  readonly user: number
  /** Index of its flow. */
  readonly flow: number
  /** How many of this flow the user had published before. */
  readonly count: number
  /** When it should have been published, in Unix milliseconds by the driver's clock. */
  readonly intendedMs: number
}

/** The smallest message that can carry a stamp. */
export const minStampedBytes = 24

/** No text in UTF-8 begins so: gateways that tell text from bytes leave it as it is. */
const mark = 0xff

/** Content of `sizeBytes` with a stamp: `u8 mark ‖ u8 flow ‖ u16 sender ‖ u32 run ‖ u32 user ‖ u32 count ‖ f64 intended`, and zeros. */
export function stamped(
  { runId, sender, user, flow, count, intendedMs }: Stamp,
  sizeBytes: number,
): Uint8Array {
  const content = new Uint8Array(Math.max(minStampedBytes, sizeBytes))
  const view = new DataView(content.buffer)
  view.setUint8(0, mark)
  view.setUint8(1, flow)
  view.setUint16(2, sender)
  view.setUint32(4, runId)
  view.setUint32(8, user)
  view.setUint32(12, count)
  view.setFloat64(16, intendedMs)
  return content
}

/** The stamp of a message; undefined where it is none of this run. */
export function stampOf(content: Uint8Array, runId: number): Stamp | undefined {
  if (content.length < minStampedBytes) return undefined
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  if (view.getUint8(0) !== mark || view.getUint32(4) !== runId) return undefined
  return {
    runId,
    sender: view.getUint16(2),
    flow: view.getUint8(1),
    user: view.getUint32(8),
    count: view.getUint32(12),
    intendedMs: view.getFloat64(16),
  }
}
