import type { RenditionReport } from './rendition-choice.ts'

const nothing: RenditionReport = { decoded: 0, failed: 0 }
const shareOf = ({ decoded, failed }: RenditionReport): number => failed / (decoded + failed)

/**
 * What came of the pictures of a session: as of the member in the middle. A member whose own network is bad, or who sends wrong numbers, says
 * nothing of what comes through here.
 */
export class MiddleReport {
  #before: ReadonlyMap<string, RenditionReport> = new Map()

  /** Takes each member's totals. Returns what came of its pictures since the last call, for that member of which as many did better as did worse. */
  next(totals: ReadonlyMap<string, RenditionReport>): RenditionReport {
    const since = [...totals].flatMap(([id, { decoded, failed }]) => {
      const before = this.#before.get(id) ?? nothing
      const one = { decoded: decoded - before.decoded, failed: failed - before.failed }
      // Less than before: it changed to another rendition.
      const isNew = one.decoded < 0 || one.failed < 0
      return isNew || one.decoded + one.failed === 0 ? [] : [one]
    })
    this.#before = totals
    since.sort((a, b) => shareOf(a) - shareOf(b))
    return since[(since.length - 1) >> 1] ?? nothing
  }
}
