import { describe, expect, it } from 'vitest'
import { decodeBatch } from '@runnel/protocol'
import { batchAt, closed, data, idOf, identityOf, startMs } from '../core.testkit.ts'
import { networkLimits } from '../../limits.ts'
import { isAsk, script, sends } from './thinning.testkit.ts'

const fetched = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('fetch'))

describe('who claims to have sent', () => {
  it('does not become the way of a chain by guessing what comes next, and is not spared a copy', () => {
    const { core, next, thin, digest } = script()
    thin()
    const lines: string[] = []
    for (let i = 0; i < 50; i++) {
      const batch = next()
      core.run(digest(4, batch, { check: i }))
      core.pass(90)
      lines.push(...core.run(data(2, batch)))
    }
    expect(lines.filter((line) => isAsk(line) && line.startsWith('thin 4'))).toEqual([])
    expect(lines.filter((line) => line === 'data 4')).toHaveLength(50)
  })

  it('does not have others wait longer for what really fails', () => {
    const pulledAfterMs = (isLiar: boolean): number => {
      const { core, next, thin, digest } = script()
      thin()
      for (let i = 0; i < 60; i++) {
        const batch = next()
        const ahead = batchAt([(batch.messages[0]?.timestamp ?? 0) + 3_000])
        if (isLiar) core.run(digest(4, ahead, { check: i }))
        core.run(digest(3, batch), data(2, batch))
      }
      const sinceMs = core.nowMs
      core.run(digest(3, next()))
      for (let ms = 0; ms < 3_000; ms++) {
        if (fetched(core.pass(1)).some((line) => line.startsWith('fetch 3'))) return core.nowMs - sinceMs
      }
      return Infinity
    }
    // One question to the liar is waited for.
    expect(pulledAfterMs(true) - pulledAfterMs(false)).toBeLessThanOrEqual(100)
  })

  it('is asked for what it guessed a few times a second, and for what does not exist as for any false head', () => {
    const { core, next, thin, digest } = script()
    thin()
    for (let i = 0; i < 20; i++) {
      const batch = next()
      core.run(digest(4, batch, { check: i }), data(2, batch))
    }
    expect(core.core.counters['thin.doubts']).toBeLessThanOrEqual(3 * networkLimits.maxDoubtsPerS)
    for (let i = 1; i <= 500; i++) core.run(digest(4, batchAt([core.wallMs + i])))
    const before = core.core.counters['fetch.sent']
    core.pass(60_000)
    expect(core.core.counters['fetch.sent'] - before).toBeLessThanOrEqual(networkLimits.maxFillRounds)
  })

  it.each(['they are gone', 'all of them were asked'])('does not fill the table with it once %s', (how) => {
    const { core, next, thin, digest } = script()
    thin()
    const liars = how === 'they are gone' ? [4] : [3, 4]
    for (let i = 1; i <= networkLimits.maxAnnounced; i++)
      for (const liar of liars) core.run(digest(liar, batchAt([core.wallMs + 20_000 + i])))
    core.pass(10_000)
    if (how === 'they are gone') core.run(closed(4))
    const pulled = core.core.counters['thin.pulled']
    core.run(data(2, next()))
    const lost = next()
    core.run(digest(3, lost), ...(how === 'they are gone' ? [] : [digest(4, lost)]))
    core.pass(3_000)
    expect(core.core.counters['thin.pulled'] - pulled).toBe(1)
  })

  it('does not crowd out what others announce', () => {
    const { core, next, thin, digest } = script()
    thin()
    const batch = next()
    core.run(digest(3, batch))
    for (let i = 1; i <= 500; i++) core.run(digest(4, batchAt([core.wallMs + i])))
    expect(fetched(core.pass(1_000)).some((line) => line.startsWith('fetch 3'))).toBe(true)
  })

  it('costs a wait for a few batches, and then its place, when it brings only every second one', () => {
    const { core, next, thin, digest } = script()
    thin()
    let late = 0
    for (let i = 0; i < 40; i++) {
      const batch = next()
      core.run(digest(3, batch), digest(4, batch))
      const isWithheld = i % 2 === 0 && core.core.counters['thin.grafted'] === 0
      if (isWithheld) core.pass(60)
      late += isWithheld ? 1 : 0
      core.run(data(isWithheld || core.core.counters['thin.grafted'] > 0 ? 3 : 2, batch))
    }
    expect(late).toBe(3)
  })

  it('with the header of another publisher is a forger', () => {
    const { core, next } = script()
    const batch = next()
    const other = batchAt([startMs + 50], { publisher: identityOf(9) })
    const bytes = new Uint8Array([
      ...other.bytes.subarray(0, other.headerEnd),
      ...batch.bytes.subarray(batch.headerEnd),
    ])
    const lines = core.run(data(4, decodeBatch(bytes)))
    expect(lines.filter((line) => line.startsWith('disconnect'))).toEqual(['disconnect 4 MISBEHAVED'])
    expect(core.run(data(2, batch)).some((line) => line.startsWith('deliver'))).toBe(true)
  })
})

describe('who publishes in many chains', () => {
  it('has so many of them thinned, and others theirs', () => {
    const { core, thin } = script({ maxThinChains: 8, maxThinChainsOfPublisher: 3 })
    const asks: string[] = []
    for (let i = 0; i < 10; i++)
      for (let chain = 0; chain < 10; chain++) {
        const batch = batchAt([startMs + i], { publisher: identityOf(9), chainId: `${chain}` })
        asks.push(...core.run(data(2, batch), data(3, batch), data(4, batch)).filter(isAsk))
      }
    expect(asks).toHaveLength(3 * 2)
    expect(thin()).toHaveLength(2)
  })
})

describe('who claims to have received', () => {
  it('is spared what it says, and nobody else', () => {
    const { core, next, ask, digest } = script()
    core.run(data(2, next()), ask(3, 'standby'), ask(4, 'standby'))
    for (let i = 0; i < 5; i++) {
      const batch = next()
      core.run(data(2, batch), digest(3, batch, { alias: 3, isSenders: true }))
      const lines = sends(core.pass(1_000))
      expect(lines).toContain('data 4')
      expect(lines).not.toContain('data 3')
    }
  })

  it('by an alias that it gave to two chains is told of the first alone, and sent the other whole', () => {
    const { core, next, ask } = script()
    core.canShorten = true
    core.run(data(2, next()), data(2, batchAt([startMs + 1], { chainId: 'd' })))
    core.run(ask(3, 'digest', 5), ask(3, 'digest', 5, 1_000))
    const second = ask(3, 'digest', 5)
    if (second.type !== 'control' || second.packet.type !== 'thin') throw new Error('an ask')
    core.run({ ...second, packet: { ...second.packet, messageChainId: 'd' } })
    expect(core.core.counters['thin.refused']).toBe(1)
    expect(core.run(data(2, batchAt([startMs + 900], { chainId: 'd' })))).toContain('data 3')
    expect(core.aliases).toEqual([])
  })

  it('gives so many aliases in vain as its share, and others have theirs', () => {
    const { core, next, ask } = script({ maxThinAsks: 2 })
    core.run(data(2, next()))
    for (let alias = 0; alias < 100; alias++) core.run(ask(3, 'digest', alias))
    expect(core.core.counters['thin.refused']).toBe(0)
    core.run(ask(4, 'digest', 1))
    expect(sends(core.run(data(2, next())))).toEqual([])
    expect([...sends(core.pass(50))].sort()).toEqual(['digest 3 [200]', 'digest 4 [200]'])
    expect(core.core.headerOf(idOf(3), 1)).toBeUndefined()
  })
})
