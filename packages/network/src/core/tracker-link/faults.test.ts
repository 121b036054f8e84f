import type { StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { idOf, partId } from '../core.testkit.ts'
import { nameOf, otherPartId, urlOf, wayTo } from './tracker-links.testkit.ts'
import { TrackerLinks } from './tracker-links.ts'

const { minTrackerBackoffMs, trackerAnswerMs } = networkLimits

/** Two trackers, and two stream parts that both serve; `broken` says what throws. */
function script() {
  const lines: string[] = []
  const broken = new Set<string>()
  const note = (what: string, of: string): void => {
    if (broken.has(`${what} ${of}`)) throw new Error(`${what} ${of}`)
    lines.push(`${what} ${of}`)
  }
  const part = (id: StreamPartId): string => `part ${id.at(-1)}`
  const links = new TrackerLinks(networkLimits, {
    trackersFor: (id) => {
      if (broken.has(`directory ${part(id)}`)) throw new Error('no directory')
      return [1, 2].map((n) => ({ nodeId: idOf(n), url: urlOf(n) }))
    },
    random: () => 0,
    effects: {
      dial: (way) => note('dial', nameOf(way)),
      hangUp: (way) => note('hang up', nameOf(way)),
      sendNodeInfo: (way) => note('info', nameOf(way)),
      sendStatus: (_, id) => note('status', part(id)),
      sendLeave: (_, id) => note('leave', part(id)),
      newSession: (id) => note('session', part(id)),
      newTracker: (id) => note('tracker', part(id)),
      silent: (_, id) => note('silent', part(id)),
      partFailed: (id) => lines.push(`failed ${part(id)}`),
      trackerFailed: (way) => lines.push(`failed ${nameOf(way)}`),
    },
  })
  const after = (step: () => void): string[] => {
    lines.length = 0
    step()
    links.flush(0)
    return [...lines]
  }
  return { links, broken, after }
}

describe('a fault in the work of one stream part with its trackers', () => {
  it.each(['status', 'session', 'directory'])('leaves the others alone: %s', (what) => {
    const { links, broken, after } = script()
    broken.add(`${what} part 0`)
    links.join(partId, 0)
    links.join(otherPartId, 0)
    const lines = after(() => links.opened(wayTo(1), 0))
    expect(lines).toContain('status part 1')
    expect(lines).not.toContain('status part 0')
    if (what !== 'directory')
      expect(lines.filter((line) => line.startsWith('failed'))).toEqual(['failed part 0'])
    expect([links.homeOf(partId), links.homeOf(otherPartId)]).toEqual([undefined, idOf(1)])
    broken.clear()
    expect(after(() => links.join(partId, 1))).toEqual(['session part 0', 'status part 0'])
  })

  it('in a review leaves the others alone', () => {
    const { links, broken, after } = script()
    links.join(partId, 0)
    links.join(otherPartId, 0)
    links.opened(wayTo(1), 0)
    links.opened(wayTo(2), 0)
    broken.add('silent part 0')
    const lines = after(() => links.tick(trackerAnswerMs))
    expect(lines).toEqual(expect.arrayContaining(['failed part 0', 'silent part 1', 'status part 1']))
  })

  it('in leaving it: it is left all the same', () => {
    const { links, broken, after } = script()
    links.join(partId, 0)
    links.opened(wayTo(1), 0)
    broken.add('leave part 0')
    expect(after(() => links.leave(partId, 0))).toEqual(['failed part 0'])
    expect(links.homeOf(partId)).toBeUndefined()
  })
})

it('a tracker that cannot be dialled for a fault is one that could not be reached', () => {
  const { links, broken, after } = script()
  broken.add('dial 1')
  expect(after(() => links.join(partId, 1))).toEqual(['failed 1'])
  expect(links.dueMs).toBe(1)
  expect(after(() => links.tick(1))).toEqual(['dial 2'])
  expect(links.dueMs).toBeGreaterThan(1)
  broken.clear()
  expect(after(() => links.tick(1 + minTrackerBackoffMs))).toEqual(['dial 1'])
})
