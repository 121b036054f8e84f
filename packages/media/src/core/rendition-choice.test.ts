import { describe, expect, it } from 'vitest'
import { RenditionChoice, type RenditionReport } from './rendition-choice.ts'

const good: RenditionReport = { decoded: 30, failed: 0 }
const bad: RenditionReport = { decoded: 20, failed: 10 }
const halfGood: RenditionReport = { decoded: 10, failed: 10 }

/** Reports so many seconds long, one a second; returns the second of each change. */
function run(
  choice: RenditionChoice,
  fromS: number,
  seconds: number,
  reportAt: (index: number) => RenditionReport,
) {
  const changes: [number, number][] = []
  for (let s = fromS; s < fromS + seconds; s++) {
    const before = choice.index
    choice.report(reportAt(before), s * 1_000)
    if (choice.index !== before) changes.push([s, choice.index])
  }
  return changes
}

describe('the choice of a rendition', () => {
  it('goes up after ten good seconds, and not above the highest', () => {
    expect(run(new RenditionChoice(2, 0), 0, 100, () => good)).toEqual([[10, 1]])
  })

  it('goes down when pictures fail, and tries again later each time', () => {
    const changes = run(new RenditionChoice(2, 0), 0, 120, (index) => (index === 1 ? bad : good))
    expect(changes).toEqual([
      [10, 1],
      [12, 0],
      [32, 1],
      [34, 0],
      [74, 1],
      [76, 0],
    ])
  })

  it('keeps to what is of use where it is shown', () => {
    const choice = new RenditionChoice(2, 0)
    run(choice, 0, 20, () => good)
    choice.limit(0, 20_000)
    expect(choice.index).toBe(0)
    expect(run(choice, 20, 60, () => good)).toEqual([])
  })

  it('takes none where the lowest does not come through for seconds, and tries again every ten seconds', () => {
    const none = { decoded: 0, failed: 0 }
    const halting = { decoded: 10, failed: 30 }
    expect(run(new RenditionChoice(2, 0), 0, 30, () => halting)).toEqual([])
    const useless = { decoded: 2, failed: 10 }
    const changes = run(new RenditionChoice(2, 0), 0, 40, (index) => (index < 0 ? none : useless))
    expect(changes).toEqual([
      [5, -1],
      [15, 0],
      [20, -1],
      [30, 0],
      [35, -1],
    ])
  })

  it('keeps the lowest where it fails for a moment', () => {
    const choice = new RenditionChoice(2, 0)
    const useless = { decoded: 0, failed: 10 }
    let second = 0
    expect(run(choice, 0, 60, () => (second++ % 4 === 0 ? halfGood : useless))).toEqual([])
  })

  it('learns nothing where nothing is published', () => {
    expect(run(new RenditionChoice(2, 0), 0, 60, () => ({ decoded: 0, failed: 0 }))).toEqual([])
  })
})
