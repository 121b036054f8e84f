import { describe, expect, it } from 'vitest'
import { GroupCommit } from './group-commit.ts'
import { noDelegations } from './stored-delegations.ts'

const bytes = (...values: number[]) => new Uint8Array(values)

/** Commits that end when the test says so. */
function commits(maxWaitingBytes = 100) {
  const groups: { readonly batches: readonly Uint8Array[]; end(error?: Error): void }[] = []
  let began: () => void = () => {}
  const group = new GroupCommit(
    { maxWaitingBytes },
    ({ batches }) =>
      new Promise((resolve, reject) => {
        groups.push({ batches, end: (error) => (error ? reject(error) : resolve()) })
        began()
      }),
  )
  /** The commit of this number, once it has begun. */
  const nth = async (index: number) => {
    while (groups.length <= index) await new Promise<void>((resolve) => (began = resolve))
    const found = groups[index]
    if (found === undefined) throw new Error('no such commit')
    return found
  }
  const add = (batches: readonly Uint8Array[]) => group.add({ batches, delegations: noDelegations })
  return { group, add, nth, groups }
}

describe('a group commit', () => {
  it('takes together what came while the one before was under way', async () => {
    const { group, add, nth, groups } = commits()
    const first = add([bytes(1)])
    const together = await nth(0)
    const rest = [add([bytes(2), bytes(3)]), add([bytes(4)])]
    together.end()
    await first
    const second = await nth(1)
    expect(groups.map(({ batches }) => batches)).toEqual([[bytes(1)], [bytes(2), bytes(3), bytes(4)]])
    second.end()
    await Promise.all(rest)
    await group.idle()
  })

  it('fails those of a commit that failed, and goes on with the next', async () => {
    const { add, nth } = commits()
    const failed = add([bytes(1)])
    const commit = await nth(0)
    const next = add([bytes(2)])
    commit.end(new Error('full'))
    await expect(failed).rejects.toThrow('full')
    const second = await nth(1)
    second.end()
    await next
  })

  it('refuses what would be too much, but takes something larger when nothing waits', async () => {
    const { group, add, nth } = commits(10)
    const large = add([new Uint8Array(50)])
    await expect(add([bytes(1)])).rejects.toMatchObject({ code: 'STORE_OVERLOADED' })
    const commit = await nth(0)
    commit.end()
    await large
    await group.idle()
    const small = add([bytes(1)])
    const second = await nth(1)
    second.end()
    await small
  })
})
