import { describe, expect, it } from 'vitest'
import { delayAimMs, judgeAims, parseAims } from './aims.ts'

describe('parseAims', () => {
  it('reads conditions, in the units of what they are about', () => {
    expect(parseAims('p99<50ms, loss=0,join<=2s,cpu<70%,p99.9<500us,rate>=100')).toMatchObject([
      { metric: 'p99', comparison: '<', value: 50 },
      { metric: 'loss', comparison: '=', value: 0 },
      { metric: 'join', comparison: '<=', value: 2_000 },
      { metric: 'cpu', comparison: '<', value: 70 },
      { metric: 'p99.9', comparison: '<', value: 0.5 },
      { metric: 'rate', comparison: '>=', value: 100 },
    ])
  })

  it.each([
    '',
    'p98<5ms',
    'p99',
    'p99<',
    'p99<-1',
    'p99 50ms',
    'p99<5h',
    'loss=0,',
    'p99<5%',
    'loss<5ms',
    'rate>5s',
    'P99<5ms',
    'p99<1e3ms',
    'p99==5ms',
    'p99≤5ms',
    'loss=0;p99<3',
    'loss<0,5%',
    'p99<5ms,,loss=0',
    'loss<0',
  ])('refuses %j, and says which part', (text) => {
    expect(() => parseAims(text)).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(() => parseAims(text)).toThrow(/--aim: "/)
  })
})

describe('delayAimMs', () => {
  it('is the strictest of those that limit a delay', () => {
    expect(delayAimMs(parseAims('p99<50ms,max<=0.02s,p50>1ms,join<1ms,loss<1'))).toBe(20)
    expect(delayAimMs(parseAims('loss=0'))).toBe(Infinity)
  })
})

describe('judgeAims', () => {
  it.each([
    ['p99<50ms', { p99: 49.9 }, true],
    ['p99<50ms', { p99: 50 }, false],
    ['p99<=50ms', { p99: 50 }, true],
    ['loss=0', { loss: 0 }, true],
    ['loss=0', { loss: 0.001 }, false],
    ['rate>100', { rate: 101 }, true],
    ['rate>=100', { rate: 99 }, false],
  ])('%s with %j', (text, measured, met) => {
    expect(judgeAims(parseAims(text), measured)).toMatchObject([{ aim: text, met }])
  })

  it('counts as missed what was not measured', () => {
    expect(judgeAims(parseAims('join<1s'), {})).toMatchObject([
      { aim: 'join<1s', measured: undefined, met: false },
    ])
  })
})
