import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyPartition } from '../ids/stream-id.ts'
import { isTransient } from './side-chains.ts'
import { isUrgentChain, urgentExtensionOf, urgentFieldsOf, urgentOrders } from './urgent.ts'

const chain = { partition: 0, messageChainId: '!a' }
const u32 = fc.nat(0xffff_ffff)
const fields = fc.record({
  lifetimeMs: fc.integer({ min: 1, max: 60_000 }),
  priority: fc.nat(255),
  group: u32,
  object: u32,
  order: fc.constantFrom(...urgentOrders),
})

describe('what is urgent about a message', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fields, (some) => {
        expect(urgentFieldsOf({ ...chain, extensions: [urgentExtensionOf(some)] })).toEqual(some)
      }),
    )
  })

  it('is nothing in chains that are not urgent, and in whatever else an extension holds', () => {
    const some = { lifetimeMs: 1, priority: 0, group: 0, object: 0, order: 'oldest' } as const
    const extensions = [urgentExtensionOf(some)]
    expect(urgentFieldsOf({ partition: 0, messageChainId: 'a!', extensions })).toBeUndefined()
    expect(urgentFieldsOf({ ...chain, extensions: undefined })).toBeUndefined()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        const read = urgentFieldsOf({ ...chain, extensions: [{ type: 3, bytes }] })
        if (read !== undefined) expect(urgentExtensionOf(read).bytes).toEqual(bytes)
      }),
    )
  })

  it('has bounds', () => {
    const some = { lifetimeMs: 1, priority: 0, group: 0, object: 0, order: 'oldest' } as const
    expect(() => urgentExtensionOf({ ...some, lifetimeMs: 0 })).toThrow('a lifetime of 0 ms')
    expect(() => urgentExtensionOf({ ...some, lifetimeMs: 60_001 })).toThrow('ms of an urgent message')
    expect(() => urgentExtensionOf({ ...some, priority: 256 })).toThrow()
    expect(() => urgentExtensionOf({ ...some, group: 2 ** 32 })).toThrow()
  })
})

it('urgent chains are kept by nobody, and key parts have none', () => {
  expect(isTransient(chain)).toBe(true)
  expect(isTransient({ partition: 0, messageChainId: '~a' })).toBe(false)
  expect(isUrgentChain({ partition: keyPartition, messageChainId: '!a' })).toBe(false)
})
