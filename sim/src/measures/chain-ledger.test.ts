import { describe, expect, it } from 'vitest'
import { ChainLedger } from './chain-ledger.ts'

describe('ChainLedger', () => {
  it('tells what is missing, twice there, and late', () => {
    const ledger = new ChainLedger()
    for (const number of [0, 1, 3, 2, 2, 6]) ledger.add(number)
    expect(ledger).toMatchObject({ delivered: 5, outOfOrder: 1, duplicates: 1 })
    expect(ledger.missing(8)).toEqual([4, 5, 7])
  })
})
