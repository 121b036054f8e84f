import { encodeDelegation, isRunnelError } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { delegationFrom, identityOf, refOf, TestDelegations } from './delegations.testkit.ts'
import { KnownDelegations } from './known-delegations.ts'
import { at, batchOf, chainOf } from './store/batches.testkit.ts'

const delegation = delegationFrom(identityOf('user'), identityOf('delegate'))
const ref = refOf(delegation)
const delegated = batchOf(chainOf(), [at(1)], 20, 0, encodeDelegation(delegation))

it('What a batch names is made known to the node from what is stored', () => {
  const node = new TestDelegations()
  const known = new KnownDelegations(node)
  expect(known.makeKnown(delegated, new Map())).toBe(false)
  expect(known.makeKnown(delegated, new Map([[ref, encodeDelegation(delegation)]]))).toBe(true)
  expect(node.get(ref)).toEqual(delegation)
  expect(known.makeKnown(delegated, new Map())).toBe(true)
})

it('What is stored and is no delegation is STORE_CORRUPT, with what decoding said', () => {
  const known = new KnownDelegations(new TestDelegations())
  const corrupt = () => known.makeKnown(delegated, new Map([[ref, new Uint8Array([7])]]))
  expect(corrupt).toThrow(
    expect.objectContaining({
      code: 'STORE_CORRUPT',
      cause: expect.toSatisfy((cause) => isRunnelError(cause, 'UNSUPPORTED_VERSION')),
    }),
  )
})
