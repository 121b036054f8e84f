import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { attach, closed, CoreScript, idOf, leave, partId, publish } from '../core.testkit.ts'
import { copies, isAsk, isPull, sound, urgent, urgentAt, urgentScript } from './urgent-thinning.testkit.ts'

describe('a chain of urgent messages with many a second', () => {
  it('has one eager way, a standby, and digests of the rest', () => {
    const { thin } = urgentScript()
    expect(thin()).toEqual(['thin 3 standby', 'thin 4 digest'])
  })

  it('shows its modes at each link', () => {
    const { core, thin, ask } = urgentScript()
    thin()
    core.run(ask(2, 'digest'))
    const modes = core.core.linkModes(core.nowMs)
    expect(modes.of(partId, idOf(2))).toMatchObject({ received: { eager: 1 }, sent: { digest: 1 } })
    expect(modes.of(partId, idOf(3))).toMatchObject({ received: { standby: 1 }, sent: { eager: 1 } })
    expect(modes.of(partId, idOf(4))).toMatchObject({ received: { digest: 1 }, sent: { eager: 1 } })
  })

  it('keeps to full floods where neighbours cannot thin', () => {
    const { core, next } = urgentScript()
    core.canThin = false
    const lines: string[] = []
    for (let i = 0; i < 50; i++) {
      const batch = next()
      lines.push(...core.run(urgent(2, batch), urgent(3, batch), urgent(4, batch)))
    }
    expect(lines.filter(isAsk)).toEqual([])
    expect(core.core.counters['urgent.spared']).toBe(0)
  })

  it('goes as copies to all but those who asked for less, who are told of it and may ask for it twice', () => {
    const { core, next, ask, pull } = urgentScript()
    core.run(urgent(2, next()), ask(3, 'standby'), ask(4, 'digest'))
    const batch = next()
    expect(copies(core.run(urgent(2, batch)))).toEqual([])
    const told = [
      ...core.pass(networkLimits.urgentDigestIntervalMs),
      ...core.pass(networkLimits.lazyDigestMs),
    ]
    expect(told.filter((line) => line.startsWith('urgentDigest'))).toHaveLength(2)
    for (let i = 0; i < 2; i++) expect(copies(core.run(pull(4, batch)))).toEqual(['urgent 4'])
    expect(core.run(pull(4, batch))).toEqual([])
    expect(core.core.counters).toMatchObject({
      'urgent.served': 2,
      'urgent.notServed': 1,
      'urgent.spared': 2,
    })
  })

  it('has two ways for what comes first', () => {
    const { core, next, ask } = urgentScript()
    core.run(urgent(2, next(sound)), ask(3, 'standby'), ask(4, 'digest'))
    expect(copies(core.run(urgent(2, next(sound))))).toEqual(['urgent 3'])
  })

  it('does not change its way where both are first by turns', () => {
    const { core, next, thin } = urgentScript()
    thin(sound)
    for (let i = 0; i < 200; i++) {
      const batch = next(sound)
      const [one, other] = i % 3 === 0 ? [2, 3] : [3, 2]
      core.run(urgent(one, batch), urgent(other, batch))
    }
    expect(core.core.counters['thin.grafted']).toBe(0)
  })

  it('is kept for those who were told of it no longer than its time lasts', () => {
    const { core, next, ask, pull } = urgentScript()
    core.run(urgent(2, next()), ask(3, 'standby'))
    const batch = next({ lifetimeMs: 300 })
    core.run(urgent(2, batch, 200))
    core.pass(199)
    expect(copies(core.run(pull(3, batch)))).toEqual(['urgent 3'])
    core.pass(1)
    expect(core.run(pull(3, batch))).toEqual([])
  })

  it('of this process goes by the same ways', () => {
    const { core, next, ask } = urgentScript()
    core.run(publish(next()), ask(3, 'digest'))
    expect(copies(core.run(publish(next())))).toEqual(['urgent 2', 'urgent 4'])
  })

  it('of this process needs no standby', () => {
    const { core, next } = urgentScript()
    const lines: string[] = []
    for (let i = 0; i < 24; i++) {
      const batch = next(sound)
      lines.push(...core.run(publish(batch), urgent(2, batch), urgent(3, batch)).filter(isAsk))
    }
    expect(lines).toEqual(['thin 2 digest', 'thin 3 digest'])
  })

  it('is no measure of what its publisher may send on links of those who asked for less', () => {
    const { core, next, ask } = urgentScript()
    core.run(publish(next()), ask(3, 'digest'))
    const { publisherId } = next().chain
    expect(core.core.urgentReceivers(partId, publisherId)).toEqual([idOf(2), idOf(4)])
    expect(core.core.urgentReceivers(partId, idOf(2))).toEqual([idOf(2), idOf(3), idOf(4)])
  })

  it('is flooded in full again when an ask is not renewed', () => {
    const { core, next, ask } = urgentScript()
    core.run(urgent(2, next()), ask(3, 'digest', 3, 1_000))
    core.pass(1_000)
    expect(copies(core.run(urgent(2, next())))).toEqual(['urgent 3', 'urgent 4'])
  })

  it('is flooded in full to who asked for less and attaches again: it may be another process', () => {
    const { core, next, ask } = urgentScript()
    core.run(urgent(2, next()), ask(3, 'digest'))
    core.pass(networkLimits.attachRetryMs)
    core.run(attach(3))
    expect(copies(core.run(urgent(2, next())))).toEqual(['urgent 3', 'urgent 4'])
  })
})

describe('an urgent message that the eager way loses', () => {
  it('is asked for of who announced it, after what is usual', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const batch = next()
    core.run(digest(3, batch))
    expect(core.pass(networkLimits.minUrgentPullWaitMs - 1).filter(isPull)).toEqual([])
    expect(core.pass(1).filter(isPull)).toHaveLength(1)
    expect(core.run(urgent(3, batch)).some((line) => line.startsWith('deliver'))).toBe(true)
  })

  it('is asked for sooner when that way has brought a later one', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const [lost, later] = [next(), next()]
    core.run(urgent(2, later), digest(3, lost))
    expect(core.pass(networkLimits.urgentPassedMs).filter(isPull)).toHaveLength(1)
  })

  it('is not taken for lost when what comes first has overtaken it', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const [picture, later] = [next(), next(sound)]
    core.run(urgent(2, later), digest(3, picture))
    expect(core.pass(networkLimits.minUrgentPullWaitMs - 1).filter(isPull)).toEqual([])
  })

  it('is asked for of the next one when the first does not send it, and of each twice', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const batch = next()
    core.run(digest(3, batch), digest(4, batch))
    const asked = core
      .pass(1_000)
      .filter(isPull)
      .map((line) => line.split(' ')[1])
    expect(asked).toEqual(['3', '4', '3', '4'])
  })

  it('is asked for of nobody when it comes', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const batch = next()
    core.run(digest(3, batch), urgent(2, batch))
    expect(core.pass(1_000).filter(isPull)).toEqual([])
  })
})

describe('an eager way that brings nothing any more', () => {
  it('is left for who brings two that it did not', () => {
    const { core, next, thin, digest } = urgentScript()
    thin()
    const asks: string[] = []
    for (let i = 0; i < 2; i++) {
      const batch = next()
      core.run(digest(3, batch))
      core.pass(networkLimits.minUrgentPullWaitMs)
      asks.push(...core.run(urgent(3, batch)).filter(isAsk))
    }
    expect(asks[0]).toBe('thin 3 eager')
  })

  it('is left for the standby at once when its link closes', () => {
    const { core, thin } = urgentScript()
    thin()
    expect(core.run(closed(2)).filter(isAsk)[0]).toBe('thin 3 eager')
  })

  it('of sound is left for the standby, which brought all meanwhile', () => {
    const { core, next, thin } = urgentScript()
    thin(sound)
    const asks: string[] = []
    for (let i = 0; i < 20; i++) asks.push(...core.run(urgent(3, next(sound))).filter(isAsk))
    expect(asks[0]).toBe('thin 3 eager')
    expect(core.core.counters['urgent.pulled']).toBe(0)
  })
})

describe('what is remembered of ways', () => {
  it('ends with the chain, the link and the stream part', () => {
    const { core, next, thin, ask, pull } = urgentScript()
    thin()
    const batch = next()
    core.run(ask(3, 'digest'), urgent(2, batch), leave)
    expect(core.run(pull(3, batch))).toEqual([])
    expect(core.pass(60_000).filter((line) => /^(urgent|thin)/.test(line))).toEqual([])
  })

  it('is bounded in chains, beyond which all is flooded in full', () => {
    const { core, next } = urgentScript({ maxUrgentThinChains: 0 })
    for (let i = 0; i < 20; i++) {
      const batch = next()
      core.run(urgent(2, batch), urgent(3, batch))
    }
    expect(core.core.counters['thin.asked']).toBe(0)
  })
})

it('nothing is asked for below one a second', () => {
  const core = new CoreScript().withNeighbours(2, 3)
  for (let i = 0; i < 30; i++) {
    core.pass(2_000)
    const batch = urgentAt(2_000 * (i + 1))
    core.run(urgent(2, batch), urgent(3, batch))
  }
  expect(core.core.counters['thin.asked']).toBe(0)
})
