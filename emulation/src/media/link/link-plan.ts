/**
 * What decides how much is sent. ladder: UDP, a ladder of rates by what waits at the sender, and nothing else. window: the same behind the window
 * of SCTP, in a data channel that sends nothing again. ours: a session of `@runnel/media` over WebRTC.
 */
export const linkArms = ['ladder', 'window', 'ours'] as const
export type LinkArm = (typeof linkArms)[number]

/** What shares the line: nothing; a stream that takes what it gets, of the same peers; the same pictures of two others; a TCP connection. */
export const besides = ['alone', 'bulk', 'media', 'tcp'] as const
export type Beside = (typeof besides)[number]

export interface LinkOptions {
  readonly arm: LinkArm
  readonly beside: Beside
  readonly oneWayMs: number
  /** By second, from then on, in kbit/s. */
  readonly line: readonly { readonly fromS: number; readonly kbitPerS: number }[]
  readonly seconds: number
}

/** What may wait before the line of 1 Mbit/s: 400 ms (source 002). */
export const queueBytes = 50_000
/** A picture is shown when it came so long after it was sent, beside the way: behind a full queue, and a little. */
export const playoutMs = 500

/** Source 002: 1 Mbit/s, half of it from 30 s on, and all again from so many seconds on. */
export function fallingLine(returnsAtS: number): LinkOptions['line'] {
  return [
    { fromS: 0, kbitPerS: 1_000 },
    { fromS: 30, kbitPerS: 500 },
    { fromS: returnsAtS, kbitPerS: 1_000 },
  ]
}
