import { expect, it } from 'vitest'
import { glassFigures, type PageRecord } from './glass-figures.ts'

const window = { fromMs: 10_000, untilMs: 14_000 }
const nothing = { shown: [], heardMs: [], clicksMs: [], counters: [] }

it('measures pictures by the time painted into them, and clicks by the last before', () => {
  const publisher = { ...nothing, clicksMs: [9_000, 10_000, 11_000, 12_000, 13_000] }
  // Ten pictures a second, but for half of one; each shown 150 ms after it was painted, and one after 250.
  const paintedMs = Array.from({ length: 45 }, (_, i) => 9_600 + 100 * i).filter(
    (ms) => ms <= 11_000 || ms >= 11_500,
  )
  const watching: PageRecord = {
    ...nothing,
    shown: paintedMs.map((ms) => ({ paintedMs: ms, shownMs: ms + (ms === 12_000 ? 250 : 150) })),
    heardMs: [9_200, 10_180, 11_200, 13_220],
    // Half of all was lost and made up before.
    counters: [
      { jitterMs: 20, soundUnits: 200, concealedUnits: 100, pictureUnits: 100, lostUnits: 50 },
      { jitterMs: 6, soundUnits: 300, concealedUnits: 100, pictureUnits: 350, lostUnits: 50 },
      { jitterMs: 4, soundUnits: 400, concealedUnits: 102, pictureUnits: 600, lostUnits: 51 },
    ],
  }
  expect(glassFigures([publisher, watching], window, 10)).toEqual({
    ...{ pictureP50Ms: 150, pictureP95Ms: 150, soundP50Ms: 200, soundP95Ms: 220 },
    ...{ clicks: 4, clicksHeard: 3, picturesPerS: 9, freezesPerMinute: 15 },
    ...{ jitterMs: 10, concealedPercent: 1, pictureLossPercent: 0.2 },
  })
})

it('has nothing to say where nothing came', () => {
  const figures = glassFigures([nothing, nothing], window, 30)
  expect(figures).toMatchObject({
    pictureP50Ms: null,
    soundP50Ms: null,
    clicks: 0,
    jitterMs: null,
    concealedPercent: null,
  })
})
