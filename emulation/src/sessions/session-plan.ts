import { mediaFlows } from '../../../packages/node/src/bench/core/media-flows.ts'

/**
 * How users of a session are made: a Chromium each, with a window on a display that nobody sees, the same recording what it shows, without a window;
 * or light users of `runnel bench`, by what they link with.
 */
export const sessionArms = [
  'browser',
  'browser-recording',
  'headless',
  'light-websocket',
  'light-webrtc',
] as const
export type SessionArm = (typeof sessionArms)[number]

export interface SessionLimits {
  /** Of each user, from when it was told to join. */
  readonly joinMs: number
  /** Of all that the others sent. */
  readonly completenessPercent: number
}

/** As source 003 has them, but for completeness, of which it says nothing. */
export const usualLimits: SessionLimits = { joinMs: 10_000, completenessPercent: 99 }

export interface FillOptions {
  readonly arm: SessionArm
  /** Users of a session; all send and receive. */
  readonly members: number
  readonly maxSessions: number
  readonly limits: SessionLimits
  /** Whether all are measured after each new session, or once, when the last has joined: sessions are then added as fast as they join. */
  readonly measures: 'each' | 'last'
  /** After a session has joined, before it is measured; the first time it is longer, as compilers are at work. */
  readonly warmUpMs: number
  /** Default: ten seconds. */
  readonly firstWarmUpMs?: number
  readonly windowMs: number
  /** No session is added after so long. */
  readonly budgetMs: number
  /** How long all are measured when the last has joined; 0: as long as before. */
  readonly holdMs: number
}

/** What a user should send: the same whoever it is. */
export const flows = [mediaFlows.sound, mediaFlows.picture] as const
export const framesPerS = flows.reduce((sum, { ratePerS }) => sum + ratePerS, 0)

/** Users of a session that begin to join in a second. */
export const joinsPerS = 4

/** A session that joins later is waited for no longer: light users join beside each other, browsers one after the other. */
export function joinBoundMs({
  arm,
  members,
  limits,
}: Pick<FillOptions, 'arm' | 'members' | 'limits'>): number {
  return isLight(arm) ? (1_000 * members) / joinsPerS + limits.joinMs : members * limits.joinMs
}

export const isLight = (arm: SessionArm): boolean => arm === 'light-websocket' || arm === 'light-webrtc'

/** The most that filling a machine takes, with its end. */
export function fillBoundMs(options: FillOptions): number {
  const lastMs = joinBoundMs(options) + options.warmUpMs + options.windowMs
  return startMs + usualFirstWarmUpMs + options.budgetMs + lastMs + options.holdMs + stopMs
}

/** Before the first measurement. */
export const usualFirstWarmUpMs = 10_000
/** Of a tracker and of what a machine needs before its first user. */
const startMs = 30_000
const stopMs = 30_000
