import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { idOf } from '../core.testkit.ts'
import { ChainWays } from './chain-ways.ts'

const [near, far, farther] = [idOf(2), idOf(3), idOf(4)]
const names = new Map([near, far, farther].map((id, i) => [id, ['near', 'far', 'farther'][i]]))

/** The ways of a chain, one batch each 100 ms. */
function script() {
  const ways = new ChainWays(networkLimits)
  let batches = 0
  const at = () => ({ nowMs: batches * 100, isFast: true })
  const place = () => ({ timestamp: batches, sequenceNumber: 0 })
  const text = (asks: readonly { readonly peerId: typeof near; readonly mode: string }[]) =>
    asks.map(({ peerId, mode }) => `${names.get(peerId)} ${mode}`)
  return {
    ways,
    nowMs: () => batches * 100,
    /** A batch that comes from these, in this order. */
    batch(first: typeof near, ...later: (typeof near)[]) {
      batches++
      const asks = [...ways.first(place(), first, at())]
      for (const peerId of later) asks.push(...ways.again(place(), peerId, at()))
      return text(asks)
    },
    /** A batch that is announced by these, so long before it comes. */
    announced(first: typeof near, peerIds: (typeof near)[], beforeMs = 0) {
      batches++
      const announced = { sinceMs: at().nowMs - beforeMs, peerIds }
      return text(ways.first(place(), first, { ...at(), announced }))
    },
    gone: (peerId: typeof near) => text(ways.gone(peerId, batches * 100)),
    withheld: (peerId: typeof near) => text(ways.withheld(peerId, batches * 100)),
  }
}

/** `near` brings first, `far` is the standby, `farther` sends digests. */
function thin() {
  const run = script()
  for (let i = 0; i < 3; i++) run.batch(near, far, farther)
  return run
}

describe('the ways of a chain', () => {
  it('are fewer once copies came late three times in a row: the first of them is the standby', () => {
    const run = script()
    expect(run.batch(near, far, farther)).toEqual([])
    expect(run.batch(near, far, farther)).toEqual([])
    expect(run.batch(near, far, farther)).toEqual(['far standby', 'farther digest'])
    expect(run.ways.standby(run.nowMs())).toBe(far)
  })

  it('have one standby again, the first, once another has taken the place of one that was silent for a while', () => {
    const run = thin()
    for (let i = 0; i < 20; i++) run.announced(near, [farther])
    expect(run.ways.modeOf(farther, run.nowMs())).toBe('standby')
    const asks: string[] = []
    for (let i = 0; i < 120; i++) asks.push(...run.announced(near, [far, farther]))
    expect(asks).toContain('farther digest')
    expect([far, farther].map((id) => run.ways.modeOf(id, run.nowMs()))).toEqual(['standby', 'digest'])
  })

  it('stay as they are where each brings first in turn, and where the chain has few batches', () => {
    const run = script()
    for (let i = 0; i < 20; i++) expect(i % 2 ? run.batch(near, far) : run.batch(far, near)).toEqual([])
    const slow = new ChainWays(networkLimits)
    for (let i = 0; i < 20; i++) {
      const place = { timestamp: i, sequenceNumber: 0 }
      expect(slow.first(place, near, { nowMs: i, isFast: false })).toEqual([])
      expect(slow.again(place, far, { nowMs: i, isFast: false })).toEqual([])
    }
  })

  it('lead through whoever brings what the eager one is late with, which becomes its standby where there is no other', () => {
    const run = thin()
    run.announced(near, [far, farther])
    expect(run.batch(far)).toEqual([])
    expect(run.batch(far)).toEqual(['far eager', 'farther standby', 'near digest'])
    const two = script()
    for (let i = 0; i < 3; i++) two.batch(near, far)
    two.announced(near, [far])
    expect([two.batch(far), two.batch(far)]).toEqual([[], ['far eager', 'near standby']])
    expect([two.batch(near), two.batch(near)]).toEqual([[], ['near eager', 'far standby']])
  })

  it('stay as they are when the eager one is late with a single batch now and then', () => {
    const run = thin()
    for (let i = 0; i < 40; i++) expect(run.batch(i % 4 ? near : far)).toEqual([])
  })

  it('are left when the eager one is late with every second batch, and not when it brings these a little later', () => {
    const withholds = thin()
    const asks: string[] = []
    for (let i = 0; i < 6; i++) asks.push(...withholds.batch(i % 2 ? near : far))
    expect(asks[0]).toBe('far eager')
    const late = thin()
    for (let i = 0; i < 40; i++) expect(i % 2 ? late.batch(near) : late.batch(far, near)).toEqual([])
  })

  it('are more and more rarely those of who announces early and then withholds', () => {
    const run = thin()
    let [missed, inRow] = [0, 0]
    const batches = 2_000
    for (let i = 0; i < batches; i++) {
      const eager = [near, far].find((peerId) => run.ways.modeOf(peerId, run.nowMs()) === 'eager')
      inRow = eager === undefined ? inRow + 1 : 0
      // It brings a few before.
      const isWithheld = inRow > 3 && i % 2 === 0
      missed += isWithheld ? 1 : 0
      // What the liar withholds comes by its standby.
      const standby = run.ways.standby(run.nowMs()) ?? near
      run.announced(eager ?? (isWithheld ? standby : farther), [farther], 100)
    }
    expect(missed).toBeGreaterThan(1)
    expect(missed / batches).toBeLessThan(0.01)
  })

  it('are left more slowly each time that they were needed all the same', () => {
    const run = thin()
    for (const peerId of [farther, farther]) run.batch(peerId)
    expect(run.ways.modeOf(farther, run.nowMs())).toBe('eager')
    for (let ms = 0; ms <= networkLimits.thinLeaseMs + 3_000; ms += 100) run.batch(near)
    expect(run.ways.modeOf(farther, run.nowMs())).toBe('eager')
    const late = (): number => {
      for (let i = 1; i <= 50; i++)
        if (run.batch(near, farther).some((ask) => /farther (standby|digest)/.test(ask))) return i
      return Infinity
    }
    expect(late()).toBe(2 * networkLimits.thinAfterLate)
  })

  it('change at once when the one that brings is gone', () => {
    const run = thin()
    run.announced(near, [far, farther])
    expect(run.gone(near)).toEqual(['far eager', 'farther standby'])
    expect(run.gone(idOf(9))).toEqual([])
  })

  it('have another standby when it did not send what it announced', () => {
    const run = thin()
    run.announced(near, [far, farther])
    expect(run.withheld(far)).toEqual(['far digest', 'farther standby'])
    expect(run.withheld(far)).toEqual([])
  })

  it('lead through whoever announces long before copies come', () => {
    const run = thin()
    for (let i = 0; i < 7; i++) expect(run.announced(near, [farther], 100)).toEqual([])
    expect(run.announced(near, [farther], 100)).toContain('farther eager')
    const steady = thin()
    for (let i = 0; i < 30; i++) expect(steady.announced(near, [far], 10)).toEqual([])
  })

  it('end by themselves, unless they are asked for again while batches come and are told of', () => {
    const run = thin()
    const asks: string[] = []
    for (let i = 0; i < 60; i++) asks.push(...run.announced(near, [far]))
    expect(asks).toEqual(['far standby'])
    expect(run.ways.modeOf(far, run.nowMs())).toBe('standby')
    expect(run.ways.modeOf(far, run.nowMs() + networkLimits.thinLeaseMs)).toBe('eager')
  })

  it('are asked for again when copies come all the same', () => {
    const run = thin()
    const asks: string[] = []
    for (let i = 0; i < 30; i++) asks.push(...run.batch(near, far))
    expect(asks.filter((ask) => ask === 'far standby').length).toBeGreaterThan(0)
  })

  it('are forgotten of peers that are no neighbours, such as feeders, and of no other', () => {
    const run = thin()
    for (let peer = 10; peer < 15; peer++) run.batch(idOf(peer), near)
    expect(run.ways.size).toBe(8)
    run.ways.keep([near, far, farther])
    expect(run.ways.size).toBe(3)
    expect(run.ways.modeOf(far, run.nowMs())).toBe('standby')
  })
})
