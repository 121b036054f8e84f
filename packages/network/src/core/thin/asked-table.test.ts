import { describe, expect, it } from 'vitest'
import { AskedTable, type AskedMode } from './asked-table.ts'

function table(max: number) {
  const asks = new AskedTable<string, AskedMode>(max)
  const forgotten: number[] = []
  const ask = (chain: string, alias: number, mode: AskedMode['mode'] = 'digest', untilMs = 100): boolean => {
    const asked = { alias, mode, untilMs }
    return asks.ask(
      chain,
      asked,
      () => ({ ...asked }),
      (before) => void forgotten.push(before.alias),
    )
  }
  return { asks, ask, forgotten }
}

describe('what a neighbour asked for', () => {
  it('is found by chain while it holds, and by alias until it is swept', () => {
    const { asks, ask } = table(2)
    ask('a', 1)
    expect([asks.find('a', 99)?.mode, asks.find('a', 100)]).toEqual(['digest', undefined])
    ask('a', 1, 'standby', 200)
    expect([asks.find('a', 199)?.mode, asks.size]).toEqual(['standby', 1])
    expect(asks.sweep(({ untilMs }) => untilMs <= 200)).toHaveLength(1)
    expect([asks.byAlias(1), asks.size]).toEqual([undefined, 0])
  })

  it('is bounded, and one alias stands for one chain', () => {
    const { ask, forgotten } = table(2)
    expect([ask('a', 1), ask('b', 1), ask('b', 2), ask('c', 3)]).toEqual([true, false, true, false])
    expect(ask('c', 3, 'eager')).toBe(true)
    expect([ask('a', 4), forgotten]).toEqual([true, [1]])
  })
})
