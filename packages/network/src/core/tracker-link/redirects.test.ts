import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { idOf, partId } from '../core.testkit.ts'
import { otherPartId, script, wayTo } from './tracker-links.testkit.ts'

const { minCircuitBackoffMs, maxTrackerBackoffMs, trackerStaggerMs, trackerLingerMs, trackerAnswerMs } =
  networkLimits

const minute = 60_000

type Script = ReturnType<typeof script>

const redirect =
  ({ links }: Script, from: ReturnType<typeof wayTo>, to: number, nowMs: number, part = partId) =>
  () =>
    links.redirected(from, part, idOf(to), nowMs)

/** The first tracker cannot be dialled; the second serves, but is redirecting. */
function refusedFirst(...trackers: number[]): Script {
  const play = script(...trackers)
  play.links.join(partId, 0)
  play.links.closed(wayTo(1), 0)
  play.after(() => play.links.opened(wayTo(2), 10))
  return play
}

describe('a tracker that redirects', () => {
  it('is believed: the one it names is reported to once it is open, and needs not prove to stay', () => {
    const play = script(1, 2)
    const { links, after, until, open } = play
    links.join(partId, 0)
    links.closed(wayTo(1), 0)
    open(2, 10)
    until(1_000)
    expect(after(() => links.opened(wayTo(1), 1_010))).toEqual(['info 1'])
    expect(after(redirect(play, wayTo(2), 1, 1_020))).toEqual(['session 0', 'status 1 0'])
    // It has forgotten the node, and needs no leave.
    expect(until(minute)).toEqual([`${1_020 + trackerLingerMs}: hang up 2`])
  })

  it('and names one whose own URL is being dialled: that is waited for, and then a circuit is tried', () => {
    const play = script(1, 2, 3)
    const { links, after, until } = play
    links.join(partId, 0)
    until(trackerStaggerMs)
    after(() => links.opened(wayTo(2), 300))
    expect(after(redirect(play, wayTo(2), 1, 310))).toEqual(['dial 1/2'])
    expect(links.homeOf(partId)).toBeUndefined()
    expect(after(() => links.opened(wayTo(1, 2), 320))).toEqual(['info 1/2', 'session 0', 'status 1/2 0'])
    links.instructed(wayTo(1, 2), partId, 330)
    expect(links.homeOf(partId)).toBe(idOf(1))
  })

  it('gives way to the next when neither the way it names nor the circuit opens', () => {
    const play = refusedFirst(1, 2, 3)
    const { after, until } = play
    expect(after(redirect(play, wayTo(2), 1, 20))).toEqual(['dial 1/2'])
    expect(until(20 + trackerStaggerMs)).toEqual([`${20 + trackerStaggerMs}: dial 3`])
  })

  it('serves at once when its circuit closes, as it then knows better', () => {
    const play = refusedFirst(1, 2)
    const { links, after } = play
    after(redirect(play, wayTo(2), 1, 20))
    expect(after(() => links.closed(wayTo(1, 2), 30))).toEqual(['session 0', 'status 2 0'])
    links.instructed(wayTo(2), partId, 40)
    expect(links.homeOf(partId)).toBe(idOf(2))
  })

  it('serves at once when a circuit that served closes', () => {
    const play = refusedFirst(1, 2)
    const { links, after, until } = play
    after(redirect(play, wayTo(2), 1, 20))
    after(() => links.opened(wayTo(1, 2), 30))
    expect(until(1_000)).toEqual(['1000: dial 1'])
    expect(after(() => links.closed(wayTo(1, 2), 5_000))).toEqual(['session 0 after other', 'status 2 0'])
  })

  it('is asked again quickly at first, and ever more rarely', () => {
    const play = refusedFirst(1, 2)
    const { links, after, until } = play
    const pausesMs: number[] = []
    let nowMs = 20
    for (let i = 0; i < 9; i++) {
      expect(after(redirect(play, wayTo(2), 1, nowMs)).filter((line) => line !== 'dial 1/2')).toEqual([])
      let dialledMs = nowMs
      if (i > 0) {
        for (const line of until(nowMs + maxTrackerBackoffMs))
          if (line.endsWith('dial 1/2')) dialledMs = Number(line.split(':')[0])
        pausesMs.push(dialledMs - nowMs)
      }
      nowMs = Math.max(dialledMs, nowMs)
      expect(after(() => links.closed(wayTo(1, 2), nowMs))).toEqual(['session 0', 'status 2 0'])
    }
    expect(pausesMs).toEqual([1, 2, 4, 8, 16, 32, 40, 40].map((times) => times * minCircuitBackoffMs))
  })

  it('is told nothing more when the stream part is left', () => {
    const play = refusedFirst(1, 2)
    const { links, after } = play
    after(redirect(play, wayTo(2), 1, 20))
    expect(after(() => links.leave(partId, 30))).toEqual([])
  })
})

describe('a circuit', () => {
  it('gives way at once to the URL of the tracker itself', () => {
    const play = refusedFirst(1, 2)
    const { links, after, until } = play
    after(redirect(play, wayTo(2), 1, 20))
    after(() => links.opened(wayTo(1, 2), 30))
    links.instructed(wayTo(1, 2), partId, 40)
    expect(until(1_000)).toEqual(['1000: dial 1'])
    expect(after(() => links.opened(wayTo(1), 1_010))).toEqual([
      'hang up 1/2',
      'info 1',
      'session 0',
      'status 1 0',
    ])
    // What the tracker says of it comes too late to matter.
    expect(after(() => links.closed(wayTo(1, 2), 1_020))).toEqual([])
    expect(until(minute)).toEqual([`${20 + trackerLingerMs}: hang up 2`])
    expect(links.homeOf(partId)).toBe(idOf(1))
  })

  it('that opens behind it is of no use', () => {
    const play = refusedFirst(1, 2)
    const { links, after, until } = play
    after(redirect(play, wayTo(2), 1, 20))
    until(1_000)
    expect(after(() => links.opened(wayTo(1), 1_010))).toContain('hang up 1/2')
    expect(after(() => links.opened(wayTo(1, 2), 1_020))).toEqual(['hang up 1/2'])
  })

  it('leads over several trackers, from the first that was dialled', () => {
    const play = refusedFirst(1, 2, 3)
    const { links, after } = play
    expect(after(() => links.closed(wayTo(2), 20))).toEqual(['dial 3'])
    expect(after(() => links.opened(wayTo(3), 30))).toEqual(['info 3', 'session 0 after other', 'status 3 0'])
    expect(after(redirect(play, wayTo(3), 2, 40))).toEqual(['dial 2/3'])
    expect(after(() => links.opened(wayTo(2, 3), 50))).toEqual(['info 2/3', 'session 0', 'status 2/3 0'])
    expect(after(redirect(play, wayTo(2, 3), 1, 60))).toEqual(['dial 1/2/3'])
    expect(wayTo(1, 2, 3).url).toBe(`ws://tracker-3.example/circuit/${idOf(2)}/${idOf(1)}`)
    expect(after(() => links.opened(wayTo(1, 2, 3), 70))).toEqual([
      'info 1/2/3',
      'session 0',
      'status 1/2/3 0',
    ])
  })

  it('to a tracker serves all its stream parts: there is only one at a time', () => {
    const play = refusedFirst(1, 2, 3)
    const { links, after, setOther } = play
    setOther(1, 3)
    links.join(otherPartId, 15)
    after(() => links.opened(wayTo(3), 20))
    after(redirect(play, wayTo(3), 1, 30, otherPartId))
    expect(after(redirect(play, wayTo(2), 1, 30))).toEqual(['dial 1/2'])
    expect(after(() => links.opened(wayTo(1, 2), 40))).toEqual([
      'hang up 1/3',
      'info 1/2',
      'session 0',
      'session 1',
      'status 1/2 0',
      'status 1/2 1',
    ])
    expect(play.until(900)).toEqual([])
  })

  it('is given up when the tracker that it passes has moved', () => {
    const play = refusedFirst(1, 2)
    const { links, after, move } = play
    after(redirect(play, wayTo(2), 1, 20))
    move(2, 'ws://elsewhere.example')
    expect(after(() => links.update(30))).toEqual(['dial 2 at ws://elsewhere.example'])
    expect(play.until(30 + trackerLingerMs)).toContain(`${30 + trackerLingerMs}: hang up 1/2`)
  })
})

describe('a redirect that may not be', () => {
  it.each([
    ['to a later tracker', 3],
    ['to itself', 2],
    ['to one that nobody knows', 9],
  ])('%s: the tracker counts as one that does not answer', (_, to) => {
    const play = refusedFirst(1, 2, 3)
    const { links, after, until } = play
    expect(after(redirect(play, wayTo(2), to, 20))).toEqual(['silent 2 0', 'dial 3'])
    expect(after(redirect(play, wayTo(2), to, 21))).toEqual([])
    expect(after(() => links.opened(wayTo(3), 30))).toEqual(['info 3', 'session 0', 'status 3 0'])
    links.instructed(wayTo(3), partId, 40)
    expect(until(900)).toEqual([])
    // It cannot have the node go back and forth.
    const answers = () => {
      links.instructed(wayTo(2), partId, 50)
      links.redirected(wayTo(2), partId, idOf(to), 60)
    }
    expect(after(() => [1, 2, 3].forEach(answers))).toEqual([])
    expect(links.homeOf(partId)).toBe(idOf(3))
  })

  it('where there is no other: it is asked again, ever more rarely', () => {
    const play = script(2)
    const { links, after, until } = play
    links.join(partId, 0)
    after(() => links.opened(wayTo(2), 0))
    expect(after(redirect(play, wayTo(2), 1, 0))).toEqual(['silent 2 0'])
    expect(until(minute)).toEqual([2, 6, 14, 30].map((times) => `${times * trackerAnswerMs}: status 2 0`))
  })

  it('of one that was not asked', () => {
    const play = script(1, 2)
    const { links, after, until } = play
    links.join(partId, 0)
    until(trackerStaggerMs)
    after(() => links.opened(wayTo(1), 300))
    links.instructed(wayTo(1), partId, 300)
    after(() => links.opened(wayTo(2), 310))
    expect(links.redirected(wayTo(2), partId, idOf(1), 320)).toBe(false)
    expect(links.homeOf(partId)).toBe(idOf(1))
    expect(links.redirected(wayTo(2), otherPartId, idOf(1), 320)).toBe(false)
  })
})

describe('a stream part that is only visited', () => {
  it('follows redirects, and is never reported', () => {
    const play = script(1, 2)
    const { links, after } = play
    links.visit(partId, 0)
    links.closed(wayTo(1), 0)
    expect(after(() => links.opened(wayTo(2), 10))).toEqual(['info 2', 'tracker 0'])
    links.asked(partId, idOf(2))
    expect(after(redirect(play, wayTo(2), 1, 20))).toEqual(['dial 1/2'])
    expect(links.wayFor(partId)).toBeUndefined()
    expect(after(() => links.opened(wayTo(1, 2), 30))).toEqual(['info 1/2', 'tracker 0'])
    expect(links.wayFor(partId)).toEqual(wayTo(1, 2))
    expect(after(() => links.join(partId, 40))).toEqual(['session 0', 'status 1/2 0'])
    expect(after(() => links.leave(partId, 50))).toEqual(['leave 1/2 0', 'tracker 0'])
    links.unvisit(partId, 60)
    expect(play.until(minute)).toContain(`${60 + trackerLingerMs}: hang up 1/2`)
  })
})
