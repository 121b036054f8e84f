import { describe, expect, it } from 'vitest'
import { MiddleReport } from './middle-report.ts'
import { RenditionChoice } from './rendition-choice.ts'

const totals = (members: Record<string, readonly [decoded: number, failed: number]>) =>
  new Map(Object.entries(members).map(([id, [decoded, failed]]) => [id, { decoded, failed }]))

describe('the report of the member in the middle', () => {
  it('tells what came since the last one', () => {
    const report = new MiddleReport()
    expect(report.next(totals({ ada: [30, 2] }))).toEqual({ decoded: 30, failed: 2 })
    expect(report.next(totals({ ada: [60, 2] }))).toEqual({ decoded: 30, failed: 0 })
    expect(report.next(totals({ ada: [60, 2] }))).toEqual({ decoded: 0, failed: 0 })
    expect(report.next(new Map())).toEqual({ decoded: 0, failed: 0 })
  })

  it('is that of a member with as many that did better as did worse', () => {
    const [ada, ben, carla] = [[27, 3] as const, [10, 20] as const, [30, 0] as const]
    expect(new MiddleReport().next(totals({ ada, ben, carla }))).toEqual({ decoded: 27, failed: 3 })
    expect(new MiddleReport().next(totals({ ben, carla }))).toEqual({ decoded: 30, failed: 0 })
  })

  it('leaves out who shows nothing, and who changed to another rendition', () => {
    const report = new MiddleReport()
    const still = [0, 0] as const
    report.next(totals({ ada: [500, 9], ben: [400, 0], carla: still, dan: still }))
    const next = report.next(totals({ ada: [20, 1], ben: [420, 10], carla: still, dan: still }))
    expect(next).toEqual({ decoded: 20, failed: 10 })
  })

  it('keeps the pictures of all others large when one member skips numbers', () => {
    const [report, choice] = [new MiddleReport(), new RenditionChoice(2, 0)]
    const lies = 60_000
    for (let s = 1; s <= 90; s++) {
      const honest = [30 * s, 0] as const
      choice.report(report.next(totals({ eve: [2 * s, lies * s], ada: honest, ben: honest })), 1_000 * s)
    }
    expect(choice.index).toBe(1)
  })
})
