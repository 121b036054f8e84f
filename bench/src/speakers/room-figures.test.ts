import { expect, it } from 'vitest'
import { roomFigures, shortfallOf, type SpeakersFigures } from './room-figures.ts'
import type { Shown } from './shown-page.ts'

const none: SpeakersFigures = {
  ...{ cpuUs: 0, longestLateMs: 900, soundsDue: 0, soundsSent: 0, picturesDue: 0, picturesSent: 0 },
}
const after: SpeakersFigures = {
  ...{ cpuUs: 3_000_000, longestLateMs: 20 },
  ...{ soundsDue: 5_000, soundsSent: 5_000, picturesDue: 1_500, picturesSent: 1_470 },
}
const shown: Shown = {
  ...{ framesPerS: 50, longestGapMs: 30, tookS: 10, mainThreadShare: 0.5, browserCpuShare: 0.9 },
  ...{ soundsOpened: 4_900, soundsPlayed: 4_950, picturesOpened: 1_455, picturesPainted: 1_440 },
}

it('tells shares of all that speakers recorded, and what each end took', () => {
  const figures = roomFigures(shown, none, after)
  expect(figures).toMatchObject({
    ...{ soundsOpenedShare: 0.98, soundsPlayedShare: 0.99, picturesSentShare: 0.98 },
    ...{ picturesOpenedShare: 0.97, picturesShownShare: 0.96, speakersCpuShare: 0.3, speakersLateMs: 20 },
  })
  expect(shortfallOf(figures)).toBeUndefined()
})

it.each([
  ['frames', { framesPerS: 29 }, {}],
  ['sounds', { soundsOpened: 4_400 }, {}],
  ['pictures', { picturesPainted: 1_300 }, {}],
  ['speakers', { framesPerS: 29 }, { longestLateMs: 150 }],
] as const)('a room falls short by %s', (shortfall, inPage, ofSpeakers) => {
  expect(shortfallOf(roomFigures({ ...shown, ...inPage }, none, { ...after, ...ofSpeakers }))).toBe(shortfall)
})
