import type { FloodKind } from '../../places/place.ts'

/** Ways from each member to the others. */
export const roomArms = ['relay', 'two-relays', 'random', 'topology-aware'] as const
export type RoomArm = (typeof roomArms)[number]

export interface RoomOptions {
  readonly arm: RoomArm
  readonly floods: FloodKind
  readonly members: number
  /** How many of them speak, and how many show themselves; those that come first. */
  readonly voices: number
  readonly pictures: number
  /** Sites of the table of delays in which members are in turn, and of the relays. */
  readonly sites: readonly string[]
  readonly relaySites: readonly string[]
  /** In per cent, of each host's link, each way. */
  readonly lossPercent: number
  readonly dilation: number
  /** What is measured, in the time of the room. */
  readonly measureMs: number
  readonly seed: number
}

/** Frames so shortly before the end may still be under way. */
export const graceMs = 2_000
/** Before what is measured, members publish so long: links and processes find out what they carry. */
export const warmUpMs = 8_000

/** Real time in which everybody must know everybody: what the processor takes, and what takes its time in the room. */
export const longestGatheringMs = (dilation: number): number => 120_000 + 10_000 * dilation

/** How many relays an arm has. */
export function relaysOf(arm: RoomArm): number {
  return arm === 'relay' ? 1 : arm === 'two-relays' ? 2 : 0
}

/** The relay of a member: that of two which is nearer, or the one in turn where both are as near. */
export function relayOf(
  member: { readonly site: string; readonly number: number },
  relaySites: readonly string[],
  delayMs: (from: string, to: string) => number,
): number {
  const delays = relaySites.map((site) => delayMs(member.site, site))
  const nearest = Math.min(...delays)
  const near = [...delays.keys()].filter((relay) => delays[relay] === nearest)
  return near[member.number % near.length] ?? 0
}
