import { describe, expect, it } from 'vitest'
import { nodeId } from '../../core/tracker-core.testkit.ts'
import { believedLead, type Lead } from './believed-lead.ts'

const [self, earlier, other] = [nodeId(1), nodeId(2), nodeId(3)]
const lead = (writer: Lead['writer'], writtenAt: number, chunks = 1): Lead => ({ writer, writtenAt, chunks })
const heir = (...there: Lead['writer'][]) => ({ self, isGone: (id: Lead['writer']) => !there.includes(id) })

describe('the replica that a tracker believes', () => {
  it('is that of the last one that led and is gone, whoever has handed over to it since', () => {
    const leads = [lead(other, 1), lead(earlier, 2), lead(self, 3, 0)]
    expect(believedLead(leads, heir())).toBe(leads[1])
    expect(believedLead([], heir())).toBeUndefined()
    expect(believedLead([lead(earlier, 1, 0)], heir())).toBeUndefined()
  })

  it('is none while the last one is there to hand over, for older ones are out of date', () => {
    expect(believedLead([lead(earlier, 1), lead(other, 2)], heir(other))).toBeUndefined()
    expect(believedLead([lead(self, 1), lead(other, 2)], heir(other))).toBeUndefined()
  })

  it('is its own when nobody has led since, and not when somebody has, be it over or not', () => {
    const own = lead(self, 5)
    expect(believedLead([own, lead(other, 4), lead(earlier, 3, 0)], heir(other))).toBe(own)
    expect(believedLead([own, lead(other, 6, 0)], heir(other))).toBeUndefined()
  })
})
