import { expect, it } from 'vitest'
import { identityOf } from '../core.testkit.ts'
import { ChainTable, type AliasedChain } from './chain-table.ts'

const { nodeId: publisherId } = identityOf(1)
const limits = { maxChains: 2, maxChainsOfPublisher: 2 }
const add = (table: ChainTable<string, AliasedChain>, messageChainId: string) =>
  table.add(messageChainId, publisherId, (alias) => ({ id: { publisherId, messageChainId }, alias }))

it('begins with another alias in each process: neighbours may still use those of the one before', () => {
  const [before, after] = [0.25, 0.5].map(
    (random) => new ChainTable<string, AliasedChain>(limits, () => random),
  ) as [ChainTable<string, AliasedChain>, ChainTable<string, AliasedChain>]
  const aliases = ['a', 'b'].map((id) => add(before, id)?.alias)
  add(after, 'a')
  expect(aliases.map((alias) => after.byAlias(alias ?? 0))).toEqual([undefined, undefined])
})

it('gives an alias once, also when it was empty in between', () => {
  const table = new ChainTable<string, AliasedChain>(limits, () => 0.5)
  const first = add(table, 'a')?.alias ?? 0
  table.forget('a')
  expect(add(table, 'b')?.alias).toBe(first + 1)
  expect(table.byAlias(first)).toBeUndefined()
})
