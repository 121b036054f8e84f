import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { copies, isAsk, isPull, sound, urgent, urgentAt, urgentScript } from './urgent-thinning.testkit.ts'

const pullsOf = (lines: readonly string[], peer: number): number =>
  lines.filter((line) => isPull(line) && line.startsWith(`urgentPull ${peer}`)).length

describe('who announces urgent messages that it does not have', () => {
  it('is no way, is spared no copy, and others are asked all the same', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const lines: string[] = []
    for (let i = 0; i < 60; i++) {
      const batch = next()
      core.run(digest(4, batch, { check: i }), digest(3, batch))
      lines.push(...core.run(urgent(2, batch)))
    }
    expect(lines.filter((line) => line.startsWith('thin 4 eager'))).toEqual([])
    // It did not ask for less itself.
    expect(copies(lines).filter((line) => line === 'urgent 4')).toHaveLength(60)
    const lost = next()
    core.run(digest(4, lost, { check: 1 }), digest(3, lost))
    expect(pullsOf(core.pass(200), 3)).toBe(1)
  })

  it('is asked twice for each, and crowds out nothing of others', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const lost = next()
    core.run(digest(3, lost))
    const now = core.wallMs
    for (let i = 1; i <= 500; i++) core.run(digest(4, urgentAt(i + 10_000)))
    expect(core.wallMs).toBe(now)
    const lines = core.pass(10_000)
    expect(pullsOf(lines, 3)).toBe(2)
    expect(core.core.counters['urgent.pulled']).toBeLessThanOrEqual(2 * (networkLimits.maxAnnounced + 1))
    expect(core.pass(60_000).filter(isPull)).toEqual([])
  })
})

describe('who is asked and does not send', () => {
  it('is standby no longer after two', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const lines: string[] = []
    for (let i = 0; i < 3; i++) {
      const batch = next()
      core.run(digest(3, batch), digest(4, batch))
      lines.push(...core.pass(150))
      lines.push(...core.run(urgent(4, batch)))
    }
    expect(lines.filter(isAsk)).toContain('thin 3 digest')
  })

  it('and says later that it did keeps its place for eight messages at most', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    let late = 0
    for (let i = 0; i < 40 && core.core.counters['thin.grafted'] === 0; i++) {
      const batch = next()
      core.run(digest(3, batch), digest(4, batch))
      core.pass(networkLimits.minUrgentPullWaitMs)
      // What the eager way sends then is a copy, or looks like one.
      core.run(urgent(3, batch), urgent(2, batch))
      late++
    }
    expect(late).toBeLessThanOrEqual(8)
  })
})

describe('who names more messages than it may', () => {
  it('is not heard any more until the next second', () => {
    const { core, next, thin, digest, ask, pull } = urgentScript({ maxUrgentNamedPerS: 2 })
    thin()
    const batch = next()
    core.run(ask(4, 'digest'), urgent(2, batch))
    core.run(digest(4, next()), digest(4, next()), digest(4, next()))
    expect(core.core.counters['digest.ignored']).toBe(1)
    expect(copies(core.run(pull(4, batch)))).toEqual([])
    core.pass(500)
    expect(copies(core.run(pull(4, batch)))).toEqual(['urgent 4'])
  })
})

describe('who asks', () => {
  it('for less gets less itself, and nobody else', () => {
    const { core, next, ask } = urgentScript()
    core.run(urgent(2, next()), ask(4, 'digest'))
    expect(copies(core.run(urgent(2, next(sound))))).toEqual(['urgent 3'])
  })

  it('and is no neighbour is not heard', () => {
    const { core, next, ask } = urgentScript()
    core.run(urgent(2, next()), ask(9, 'digest'))
    expect(core.core.counters['thin.refused']).toBe(1)
  })

  it('for messages that it was not told of, or by an alias of another, gets none', () => {
    const { core, next, ask, pull } = urgentScript()
    const first = next()
    core.run(urgent(2, first), ask(3, 'digest', 3))
    const batch = next()
    core.run(urgent(2, batch))
    expect(copies(core.run(pull(4, batch, 3), pull(3, batch, 4), pull(3, first, 3)))).toEqual([])
    expect(core.core.counters['urgent.notServed']).toBe(3)
  })

  it('of more chains than it may is refused', () => {
    const { core, next, ask } = urgentScript({ maxThinAsks: 0 })
    core.run(urgent(2, next()), ask(3, 'digest'))
    expect(core.core.counters['thin.refused']).toBe(1)
    expect(copies(core.run(urgent(2, next())))).toEqual(['urgent 3', 'urgent 4'])
  })
})
