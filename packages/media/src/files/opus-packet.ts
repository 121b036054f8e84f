/** Milliseconds of one frame by the upper five bits of the first byte (RFC 6716, section 3.1, table 2). */
const silk = [10, 20, 40, 60]
const hybrid = [10, 20]
const celt = [2.5, 5, 10, 20]

function frameMsOf(config: number): number {
  if (config < 12) return silk[config % 4] ?? 0
  return (config < 16 ? hybrid[config % 2] : celt[config % 4]) ?? 0
}

/** How long an Opus packet lasts: 2.5 to 120 ms; undefined where it is none. */
export function opusDurationMs(packet: Uint8Array): number | undefined {
  const [toc, count] = packet
  if (toc === undefined) return undefined
  const code = toc & 3
  const frames = code === 0 ? 1 : code < 3 ? 2 : (count ?? 0) & 0x3f
  const durationMs = frames * frameMsOf(toc >> 3)
  return durationMs > 0 && durationMs <= 120 ? durationMs : undefined
}
