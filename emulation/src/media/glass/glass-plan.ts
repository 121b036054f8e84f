/** How pages are joined: as nodes of an overlay, as light clients of one relay, by an SFU (Janus). */
export const glassArms = ['overlay', 'relay', 'sfu'] as const
type GlassArm = (typeof glassArms)[number]

export interface GlassOptions {
  readonly arm: GlassArm
  /** Pages that watch one more. */
  readonly watching: number
  /** Sites of the table of delays in which pages are in turn, the one that publishes first, and of the relay or the SFU. */
  readonly sites: readonly string[]
  readonly relaySite: string
  /** In per cent, of each host's link, each way. */
  readonly lossPercent: number
  readonly measureMs: number
  readonly seed: number
}

/** Apart so far that a click is heard before the next. */
export const clickEveryMs = 1_000
/** Before what is measured: rates and buffers find what the links need. */
export const warmUpMs = 10_000
/** How long it may take until everybody sees and hears. */
export const begunWithinMs = 60_000
/** Starting and ending. */
export const besideMs = 90_000
