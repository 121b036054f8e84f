import { round } from '../statistics.ts'
import type { SpokenCounters } from './repeated-takes.ts'
import type { Shown } from './shown-page.ts'

/** What the process of the speakers has done so far. */
export interface SpeakersFigures extends SpokenCounters {
  readonly cpuUs: number
  /** How late a frame was at most since this was asked last. */
  readonly longestLateMs: number
}

/** How a page fared in a room. Shares of sounds and pictures are of those that all speakers recorded meanwhile. */
export interface RoomFigures {
  readonly framesPerS: number
  readonly longestGapMs: number
  /** Checked, opened and given to the session of the page. */
  readonly soundsOpenedShare: number
  /** Given to the loudspeaker, with those that the decoder made up. */
  readonly soundsPlayedShare: number
  /** The others were left out by their sessions, because links had no room. */
  readonly picturesSentShare: number
  readonly picturesOpenedShare: number
  readonly picturesShownShare: number
  readonly mainThreadShare: number
  readonly browserCpuShare: number
  readonly speakersCpuShare: number
  readonly speakersLateMs: number
}

/** Why a page did not carry a room: it drew too few frames, or brought too little of it in time; or `speakers`, if they were late themselves. */
export type Shortfall = 'frames' | 'sounds' | 'pictures' | 'speakers'

/** A page that draws fewer frames a second is not smooth. */
export const smoothFramesPerS = 30
const leastShare = 0.9
/** A speaker that is later lags like a slow network. */
const mostLateMs = 100

/** Of the page while it was watched, and of the speakers before and after. */
export function roomFigures(shown: Shown, before: SpeakersFigures, after: SpeakersFigures): RoomFigures {
  const [sounds, pictures] = [after.soundsDue - before.soundsDue, after.picturesDue - before.picturesDue]
  return {
    ...pageFigures(shown),
    soundsOpenedShare: round(shown.soundsOpened / sounds),
    soundsPlayedShare: round(shown.soundsPlayed / sounds),
    picturesSentShare: round((after.picturesSent - before.picturesSent) / pictures),
    picturesOpenedShare: round(shown.picturesOpened / pictures),
    picturesShownShare: round(shown.picturesPainted / pictures),
    speakersCpuShare: round((after.cpuUs - before.cpuUs) / 1_000_000 / shown.tookS),
    speakersLateMs: round(after.longestLateMs),
  }
}

export const pageFigures = ({ framesPerS, longestGapMs, mainThreadShare, browserCpuShare }: Shown) => ({
  framesPerS: round(framesPerS),
  longestGapMs: round(longestGapMs),
  mainThreadShare: round(mainThreadShare),
  browserCpuShare: round(browserCpuShare),
})

/** Undefined where the page carried the room. */
export function shortfallOf(room: RoomFigures): Shortfall | undefined {
  if (room.speakersLateMs > mostLateMs) return 'speakers'
  if (room.framesPerS < smoothFramesPerS) return 'frames'
  if (room.soundsOpenedShare < leastShare) return 'sounds'
  return room.picturesShownShare < leastShare ? 'pictures' : undefined
}
