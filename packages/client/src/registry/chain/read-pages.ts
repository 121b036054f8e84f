import type { Overrides } from '@runnel/contracts/ethers'
import type { ChainConnection } from './chain-connection.ts'

/** Entries of a list read at once. */
const pageSize = 100

/** Reads a paged list at one block, so that a removal meanwhile neither hides nor repeats an entry. */
export async function readPages<T>(
  connection: ChainConnection,
  readPage: (offset: number, limit: number, overrides: Overrides) => Promise<readonly T[]>,
  limit = pageSize,
): Promise<T[]> {
  const blockTag = await connection.call(() => connection.provider.getBlockNumber())
  const entries: T[] = []
  for (;;) {
    const page = await connection.call(() => readPage(entries.length, limit, { blockTag }))
    entries.push(...page)
    if (page.length < limit) return entries
  }
}
