import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { idOf, partId, streamId } from '../core.testkit.ts'
import { otherPartId, script, wayTo } from './tracker-links.testkit.ts'
import { directWay } from './way.ts'

const minute = 60_000
const movedUrl = 'ws://elsewhere.example'
const moved = directWay({ nodeId: idOf(1), url: movedUrl })
const { trackerStaggerMs, trackerSettleMs, trackerLingerMs, trackerAnswerMs } = networkLimits

describe('tracker links', () => {
  it('dials once for all stream parts, introduces itself, and reports each', () => {
    const { links, after } = script(1)
    expect(after(() => links.join(partId, 0))).toEqual(['dial 1'])
    expect(after(() => links.join(otherPartId, 0))).toEqual([])
    expect(after(() => links.opened(wayTo(1), 10))).toEqual([
      'info 1',
      'session 0',
      'session 1',
      'status 1 0',
      'status 1 1',
    ])
  })

  it('tells many changes of one turn with one status', () => {
    const { links, after } = script(1)
    links.join(partId, 0)
    links.opened(wayTo(1), 10)
    links.flush(0)
    const changes = (): void => {
      for (let i = 0; i < 5; i++) links.statusDue(partId)
    }
    expect(after(changes)).toEqual(['status 1 0'])
    expect(after(() => undefined)).toEqual([])
  })

  it('tells a tracker no more than it takes: the others have their turn, and the tracker owes them nothing before', () => {
    const { links, after, until } = script(1)
    const { statusBurst, statusesPerS } = networkLimits
    const parts = Array.from({ length: statusBurst + 400 }, (_, i) =>
      toStreamPartId(toStreamId(`${streamId}/${Math.floor(i / 100)}`), i % 100),
    )
    for (const part of parts) links.join(part, 0)
    const isStatus = (line: string): boolean => line.includes('status')
    expect(after(() => links.opened(wayTo(1), 0)).filter(isStatus).length).toBe(statusBurst)
    expect(links.hasNews).toBe(false)
    for (const part of parts.slice(0, statusBurst)) links.instructed(wayTo(1), part, 0)
    const said = until(trackerAnswerMs)
    expect(said.filter((line) => !isStatus(line))).toEqual([])
    expect(said.length).toBeGreaterThan((statusesPerS * trackerAnswerMs) / 1_000 - 20)
    expect(said.length).toBeLessThanOrEqual((statusesPerS * trackerAnswerMs) / 1_000)
    // Those that had their turn first are asked for long enough by then.
    expect(until(trackerAnswerMs + 500).some((line) => line.includes('silent'))).toBe(true)
  })

  it('hangs up a while after the last stream part was left', () => {
    const { links, after, until } = script(1)
    links.join(partId, 0)
    links.opened(wayTo(1), 0)
    expect(after(() => links.leave(partId, 100))).toEqual(['leave 1 0'])
    expect(until(minute)).toEqual([`${100 + trackerLingerMs}: hang up 1`])
    expect(links.dueMs).toBe(Infinity)
  })
})

describe('a tracker that cannot be reached', () => {
  it('is dialled again, ever more slowly, and told anew', () => {
    const { links, after } = script(1)
    links.join(partId, 0)
    links.closed(wayTo(1), 100)
    expect(links.dueMs).toBe(1_100)
    expect(after(() => links.tick(1_100))).toEqual(['dial 1'])
    links.closed(wayTo(1), 1_200)
    expect(links.dueMs).toBe(3_200)
    links.tick(3_200)
    expect(after(() => links.opened(wayTo(1), 3_300))).toEqual(['info 1', 'session 0', 'status 1 0'])
  })

  it('is dialled ever more slowly when it comes only to go again', () => {
    const { links } = script(1)
    links.join(partId, 0)
    const pausesMs = []
    for (let nowMs = 0, i = 0; i < 7; i++, nowMs = links.dueMs) {
      links.tick(nowMs)
      links.opened(wayTo(1), nowMs)
      links.closed(wayTo(1), nowMs + 10)
      pausesMs.push(links.dueMs - nowMs - 10)
    }
    expect(pausesMs).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000])
  })

  it('is dialled later the more often it went, until it has stayed long', () => {
    const { links } = script(1)
    links.join(partId, 0)
    let nowMs = 0
    const pausesMs = [1, 1, 1, 10, 1].map((minutes) => {
      links.tick(nowMs)
      links.opened(wayTo(1), nowMs)
      nowMs += minutes * minute
      links.closed(wayTo(1), nowMs)
      const pauseMs = links.dueMs - nowMs
      nowMs = links.dueMs
      return pauseMs
    })
    expect(pausesMs).toEqual([1_000, 2_000, 4_000, 1_000, 2_000])
  })

  it('is told apart from another one when it is there again: signals may have gone with the connection', () => {
    const { links, after, until } = script(1, 2)
    links.join(partId, 0)
    links.opened(wayTo(1), 10)
    links.closed(wayTo(1), minute)
    links.closed(wayTo(2), minute + 1)
    until(minute + 1_000)
    expect(after(() => links.opened(wayTo(1), minute + 1_010))).toContain('session 0 after this')
    links.closed(wayTo(1), 2 * minute)
    until(2 * minute)
    expect(after(() => links.opened(wayTo(2), 2 * minute + 10))).toContain('session 0 after other')
    until(3 * minute)
    expect(after(() => links.opened(wayTo(1), 3 * minute))).toContain('session 0')
  })

  it('gives way to the next at once when it refuses', () => {
    const { links, after } = script(1, 2, 3)
    links.join(partId, 0)
    expect(after(() => links.closed(wayTo(1), 5))).toEqual(['dial 2'])
    expect(after(() => links.closed(wayTo(2), 6))).toEqual(['dial 3'])
    expect(after(() => links.opened(wayTo(3), 7))).toEqual(['info 3', 'session 0', 'status 3 0'])
  })

  it('gives way to the next after a moment when it says nothing', () => {
    const { links, after, until } = script(1, 2, 3)
    links.join(partId, 0)
    expect(until(trackerStaggerMs - 1)).toEqual([])
    expect(until(5_000)).toEqual([`${trackerStaggerMs}: dial 2`, `${2 * trackerStaggerMs}: dial 3`])
    expect(after(() => links.opened(wayTo(2), 5_000))).toEqual(['info 2', 'session 0', 'status 2 0'])
  })

  it('is tried at once when another opens after none could be reached, and still comes first', () => {
    const { links, after, until } = script(1, 2)
    links.join(partId, 0)
    for (const nowMs of [0, 10_000, 20_000]) {
      until(nowMs)
      links.closed(wayTo(1), nowMs)
      if (nowMs < 20_000) links.closed(wayTo(2), nowMs)
    }
    expect(after(() => links.opened(wayTo(2), 21_000))).toEqual(['dial 1', 'info 2'])
    expect(after(() => links.opened(wayTo(1), 21_100))).toEqual(['info 1', 'session 0', 'status 1 0'])
  })

  it('does not hold up the one that opened for long', () => {
    const { links, after, until } = script(1, 2)
    links.join(partId, 0)
    for (const nowMs of [0, 10_000, 20_000]) {
      until(nowMs)
      links.closed(wayTo(1), nowMs)
      if (nowMs < 20_000) links.closed(wayTo(2), nowMs)
    }
    expect(after(() => links.opened(wayTo(2), 21_000))).toEqual(['dial 1', 'info 2'])
    const lateMs = 21_000 + trackerStaggerMs
    expect(until(lateMs)).toEqual([`${lateMs}: session 0`, `${lateMs}: status 2 0`])
  })

  it('still serves when it opens late, but first', () => {
    const { links, after, until } = script(1, 2)
    links.join(partId, 0)
    until(1_000)
    expect(after(() => links.opened(wayTo(1), 1_000))).toEqual(['info 1', 'session 0', 'status 1 0'])
    links.instructed(wayTo(1), partId, 1_010)
    expect(after(() => links.opened(wayTo(2), 1_020))).toEqual(['info 2'])
    expect(until(20_000)).toEqual([`${1_000 + trackerLingerMs}: hang up 2`])
  })
})

describe('an earlier tracker that comes back', () => {
  it('gets its stream parts when it has stayed, and the later one is told a while after', () => {
    const { links, after, until, open } = script(1, 2)
    links.join(partId, 0)
    links.join(otherPartId, 0)
    links.closed(wayTo(1), 0)
    open(2, 10)
    links.instructed(wayTo(2), otherPartId, 10)
    expect(until(1_000)).toEqual(['1000: dial 1'])
    expect(after(() => links.opened(wayTo(1), 1_010))).toEqual(['info 1'])
    links.leave(otherPartId, 2_000)
    expect(links.homeOf(partId)).toBe(idOf(2))
    const homeMs = 1_010 + trackerSettleMs
    expect(until(homeMs)).toEqual([`${homeMs}: session 0`, `${homeMs}: status 1 0`])
    expect(links.homeOf(partId)).toBe(idOf(1))
    const endMs = homeMs + trackerLingerMs
    expect(until(minute)).toEqual([`${endMs}: hang up 2`])
  })

  it('takes leave of the later one where that still serves others', () => {
    const { links, after, until, open, setOther } = script(1, 2)
    setOther(2)
    links.join(partId, 0)
    links.join(otherPartId, 0)
    links.closed(wayTo(1), 0)
    open(2, 0)
    links.instructed(wayTo(2), otherPartId, 0)
    until(1_000)
    expect(after(() => links.opened(wayTo(1), 1_000))).toEqual(['info 1'])
    const homeMs = 1_000 + trackerSettleMs
    expect(until(minute)).toEqual([
      `${homeMs}: session 0`,
      `${homeMs}: status 1 0`,
      `${homeMs + trackerLingerMs}: leave 2 0`,
    ])
  })

  it('and of all that served a stream part when that is left', () => {
    const { links, after, until, open, setOther } = script(1, 2)
    setOther(2)
    links.join(partId, 0)
    links.join(otherPartId, 0)
    links.closed(wayTo(1), 0)
    open(2, 0)
    until(1_000)
    open(1, 1_000)
    until(1_000 + trackerSettleMs)
    expect(after(() => links.leave(partId, 5_000))).toEqual(['leave 2 0', 'leave 1 0'])
  })

  it('moves nobody while it comes and goes', () => {
    const { links, until, open } = script(1, 2)
    links.join(partId, 0)
    links.closed(wayTo(1), 0)
    open(2, 0)
    for (let openings = 0; openings < 20; openings++) {
      const openMs = links.dueMs
      expect(until(openMs)).toEqual([`${openMs}: dial 1`])
      links.opened(wayTo(1), openMs)
      expect(until(openMs + trackerSettleMs - 1)).toEqual([])
      links.closed(wayTo(1), openMs + trackerSettleMs - 1)
      expect(links.homeOf(partId)).toBe(idOf(2))
    }
  })
})

describe('a tracker that is connected and does not answer', () => {
  it('is passed over, and serves again when it answers after all', () => {
    const { links, after, until, open } = script(1, 2)
    links.join(partId, 0)
    after(() => links.opened(wayTo(1), 0))
    expect(until(trackerAnswerMs)).toEqual([
      `${trackerAnswerMs}: silent 1 0`,
      `${trackerAnswerMs}: dial 2`,
      `${trackerAnswerMs}: status 1 0`,
    ])
    expect(links.homeOf(partId)).toBe(idOf(1))
    open(2, 2_100)
    expect(links.homeOf(partId)).toBe(idOf(2))
    expect(until(2_100 + trackerLingerMs)).toEqual([`${2_100 + trackerLingerMs}: leave 1 0`])
    expect(until(minute)).toEqual([])
    let isHome = false
    expect(after(() => (isHome = links.instructed(wayTo(1), partId, minute)))).toEqual([
      'session 0',
      'status 1 0',
    ])
    expect(isHome).toBe(true)
  })

  it('is no longer passed over when the one that served instead is gone', () => {
    const { links, after, until, open, setOther } = script(1, 2, 3)
    setOther(2)
    links.join(otherPartId, 0)
    links.join(partId, 0)
    until(trackerStaggerMs)
    links.opened(wayTo(2), 300)
    until(300 + trackerAnswerMs)
    open(1, 300 + trackerAnswerMs)
    expect(links.homeOf(partId)).toBe(idOf(1))
    until(minute)
    expect(after(() => links.closed(wayTo(1), minute))).toEqual(['session 0 after other', 'status 2 0'])
  })

  it('is left at once, and told so, when an earlier one opens before it has answered', () => {
    const { links, after, until } = script(1, 2)
    links.join(partId, 0)
    until(trackerStaggerMs)
    after(() => links.opened(wayTo(2), 300))
    expect(after(() => links.opened(wayTo(1), 400))).toEqual([
      'info 1',
      'leave 2 0',
      'session 0',
      'status 1 0',
    ])
    links.instructed(wayTo(1), partId, 500)
    expect(until(minute)).toEqual([`${400 + trackerLingerMs}: hang up 2`])
  })

  it('is borne with, and asked again ever more rarely, where there is no other, and when the stream part has been told its neighbours before', () => {
    const { links, after, until, open } = script(1)
    links.join(partId, 0)
    after(() => links.opened(wayTo(1), 0))
    expect(until(minute)).toEqual([
      `${trackerAnswerMs}: silent 1 0`,
      ...[1, 3, 7, 15].map((times) => `${times * trackerAnswerMs}: status 1 0`),
    ])
    expect(links.homeOf(partId)).toBe(idOf(1))
    open(1, minute)
    links.closed(wayTo(1), minute)
    until(2 * minute)
    after(() => links.opened(wayTo(1), 2 * minute))
    expect(until(3 * minute)).toEqual([])
  })

  it('does not count as one that serves', () => {
    const { links } = script(1, 2)
    links.join(partId, 0)
    links.opened(wayTo(1), 0)
    expect(links.instructed(wayTo(2), partId, 10)).toBe(false)
    expect(links.instructed(wayTo(1), otherPartId, 10)).toBe(false)
    expect(links.instructed(wayTo(1), partId, 10)).toBe(true)
  })
})

describe('the directory', () => {
  it('takes a tracker away: it is given up at once, and told nothing', () => {
    const { links, after, until, open, setDirectory } = script(1)
    links.join(partId, 0)
    open(1, 0)
    setDirectory(2)
    expect(after(() => links.update(100))).toEqual(['dial 2'])
    expect(links.homeOf(partId)).toBeUndefined()
    expect(after(() => links.opened(wayTo(2), 200))).toEqual(['info 2', 'session 0', 'status 2 0'])
    links.instructed(wayTo(2), partId, 200)
    expect(until(minute)).toEqual([`${100 + trackerLingerMs}: hang up 1`])
  })

  it('adds one in front: it serves when it has stayed', () => {
    const { links, after, until, open, setDirectory } = script(2)
    links.join(partId, 0)
    open(2, 0)
    setDirectory(1, 2)
    expect(after(() => links.update(100))).toEqual(['dial 1'])
    expect(after(() => links.opened(wayTo(1), 110))).toEqual(['info 1'])
    expect(until(110 + trackerSettleMs - 1)).toEqual([])
    until(110 + trackerSettleMs)
    expect(links.homeOf(partId)).toBe(idOf(1))
  })

  it('adds one behind: nobody cares', () => {
    const { links, after, until, open, setDirectory } = script(1)
    links.join(partId, 0)
    open(1, 0)
    setDirectory(1, 2)
    expect(after(() => links.update(100))).toEqual([])
    expect(until(minute)).toEqual([])
  })

  it('gives an open tracker another URL: it is reached there', () => {
    const { links, after, open, move } = script(1, 2)
    links.join(partId, 0)
    open(1, 0)
    move(1, movedUrl)
    expect(after(() => links.update(100))).toEqual([`dial 1 at ${movedUrl}`])
    expect(after(() => links.opened(moved, 110))).toEqual([
      'hang up 1',
      `info 1 at ${movedUrl}`,
      'session 0',
      `status 1 at ${movedUrl} 0`,
    ])
  })

  it('gives a tracker another URL that does not work: the next serves meanwhile', () => {
    const { links, after, until, open, move } = script(1, 2)
    links.join(partId, 0)
    open(1, 0)
    move(1, movedUrl)
    links.update(100)
    expect(after(() => links.closed(moved, 110))).toEqual(['dial 2'])
    expect(after(() => links.opened(wayTo(2), 120))).toEqual(['info 2', 'session 0', 'status 2 0'])
    expect(until(100 + trackerLingerMs)).toContain(`${100 + trackerLingerMs}: hang up 1`)
  })

  it('gives a tracker that cannot be reached another URL: it is tried there at once', () => {
    const { links, after, move } = script(1)
    links.join(partId, 0)
    for (let i = 0, nowMs = 0; i < 6; i++, nowMs = links.dueMs) {
      links.tick(nowMs)
      links.closed(wayTo(1), nowMs)
    }
    move(1, movedUrl)
    expect(after(() => links.update(minute))).toEqual([`dial 1 at ${movedUrl}`])
  })

  it('lists none: nothing is dialled, until it lists some', () => {
    const { links, after, until, setDirectory } = script()
    expect(after(() => links.join(partId, 0))).toEqual([])
    expect(until(minute)).toEqual([])
    setDirectory(1)
    expect(after(() => links.update(minute))).toEqual(['dial 1'])
  })
})
