import { VirtualClock } from '@runnel/transport'
import { beforeEach, describe, expect, it } from 'vitest'
import { noPermissions, type Permissions } from '../registry/ports.ts'
import { identityOf, streamId } from '../resend/batches.testkit.ts'
import { clockToleranceMs, ReaderSet, type ToldChange } from './reader-set.ts'

const [a, b] = [identityOf('a').nodeId, identityOf('b').nodeId]
const hourMs = 3_600_000

let clock: VirtualClock
let registry: Map<typeof a, Permissions>
let asked: string[]
/** Of the registry when it is listed. */
let listed: { block: number; lossBlock: number }
/** The registry answers when this resolves. */
let answering: Promise<void>
let readers: ReaderSet
beforeEach(() => {
  clock = new VirtualClock()
  registry = new Map()
  asked = []
  listed = { block: 10, lossBlock: 5 }
  answering = Promise.resolve()
  readers = new ReaderSet(
    { streamId },
    {
      clock,
      list: async () => {
        asked.push('all')
        const entries = [...registry].map(([user, rights]) => ({ user, ...rights }))
        const table = { entries, ...listed }
        await answering
        return table
      },
      permissionsOf: async (_, user) => {
        asked.push(user)
        await answering
        return registry.get(user) ?? noPermissions
      },
    },
  )
})
const may = (user: typeof a, untilMs: number, more: Partial<Permissions> = {}) =>
  registry.set(user, { ...noPermissions, subscribeUntilMs: untilMs, ...more })
const told = async (user: typeof a, block?: number) => {
  readers.changed(user, { block })
  await readers.refresh()
}
const counts = () => ({ losses: readers.losses(clock.now()), gains: readers.gains(clock.now()) })

describe('who may read a stream', () => {
  it('may open what was made before its permission ends, and in the last five minutes nothing of an unknown date', async () => {
    const untilMs = clock.now() + hourMs
    may(a, untilMs)
    await readers.refresh()
    const opens = () => [undefined, untilMs - 1, untilMs].map((createdMs) => readers.mayOpen(a, createdMs))
    expect(opens()).toEqual([true, true, false])
    clock.advanceBy(hourMs - clockToleranceMs)
    expect(opens()).toEqual([false, true, false])
    clock.advanceBy(clockToleranceMs)
    expect(opens()).toEqual([false, false, false])
  })

  it('is who is named, also where everybody may subscribe', async () => {
    may('public' as typeof a, Infinity)
    may(a, Infinity)
    // As the registry answers of one user: what is its own or public.
    await readers.refresh()
    may(b, Infinity)
    for (const user of [a, b]) readers.doubt(user)
    await readers.refresh()
    expect(readers.readersAt(clock.now())).toEqual([a])
    const permissions = { ...noPermissions, subscribeUntilMs: Infinity }
    readers.changed(b, { block: 11, permissions })
    await readers.refresh()
    expect(readers.readersAt(clock.now())).toEqual([a, b].sort())
    readers.changed(a, { block: 12, permissions: noPermissions })
    await readers.refresh()
    expect(readers.readersAt(clock.now())).toEqual([b])
  })

  it('is asked for as a whole once, and by user after a change', async () => {
    may(a, Infinity)
    await readers.refresh()
    may(b, Infinity)
    await told(b)
    await readers.refresh()
    expect(asked).toEqual(['all', b])
    expect(readers.readersAt(clock.now())).toEqual([a, b].sort())
  })

  it('tells writers from readers', async () => {
    may(a, Infinity, { publishUntilMs: Infinity })
    may(b, 0, { publishUntilMs: Infinity })
    await readers.refresh()
    expect(readers.writersAt(clock.now())).toEqual([b])
    expect(readers.publishersAt(clock.now())).toEqual([a, b].sort())
  })

  it('counts who is revoked', async () => {
    may(a, Infinity)
    await readers.refresh()
    may(a, 0)
    await told(a)
    expect(counts()).toEqual({ losses: 1, gains: 1 })
  })

  it('knows the block of the last loss, also of one before its time', async () => {
    may(a, Infinity)
    await readers.refresh()
    expect(readers).toMatchObject({ block: 10, lossBlock: 5 })
    may(b, Infinity)
    await told(b, 12)
    expect(readers).toMatchObject({ block: 12, lossBlock: 5 })
    may(a, 0)
    await told(a, 14)
    expect(readers).toMatchObject({ block: 14, lossBlock: 14 })
  })

  it('knows of no block of a loss that the chain has not told yet', async () => {
    may(a, Infinity)
    await readers.refresh()
    may(a, 0)
    await told(a)
    expect(readers).toMatchObject({ block: 10, lossBlock: Infinity })
    await told(a, 12)
    expect(readers).toMatchObject({ block: 12, lossBlock: 12 })
  })

  it('regards no block before all its changes are looked up', async () => {
    may(a, Infinity)
    may(b, Infinity)
    await readers.refresh()
    may(a, 0)
    readers.changed(a, { block: 12 })
    const refreshed = readers.refresh()
    may(b, 0)
    readers.changed(b, { block: 12 })
    const { promise, resolve } = Promise.withResolvers<void>()
    answering = promise
    await expect.poll(() => readers.reads(a, clock.now())).toBe(false)
    expect(readers.block).toBe(10)
    resolve()
    await refreshed
    expect(readers.block).toBe(12)
  })

  it('counts whose permission ends, without any event', async () => {
    may(a, clock.now() + hourMs)
    may(b, clock.now() + 2 * hourMs)
    await readers.refresh()
    const endMs = clock.now() + hourMs
    clock.advanceBy(hourMs - 1)
    expect(counts().losses).toBe(0)
    clock.advanceBy(1)
    expect(counts().losses).toBe(1)
    expect(readers.lastEndMs(clock.now())).toBe(endMs)
    clock.advanceBy(hourMs)
    expect(counts().losses).toBe(2)
  })

  it('counts who came later and whose permission was shortened', async () => {
    may(a, Infinity)
    await readers.refresh()
    may(b, clock.now() + hourMs)
    await told(b)
    may(a, clock.now() + hourMs)
    await told(a)
    expect(counts().losses).toBe(0)
    clock.advanceBy(hourMs)
    expect(counts().losses).toBe(2)
  })

  it('counts again what ends again after the clock was set back', async () => {
    may(a, clock.now() + hourMs)
    await readers.refresh()
    clock.advanceBy(hourMs)
    expect(counts().losses).toBe(1)
    clock.moveWall(-10_000)
    expect(counts()).toEqual({ losses: 1, gains: 2 })
    clock.advanceBy(10_000)
    expect(counts().losses).toBe(2)
  })

  it('counts a grant and a revocation between two looks as one of each', async () => {
    may(a, clock.now() + hourMs)
    await readers.refresh()
    clock.advanceBy(2 * hourMs)
    may(a, Infinity)
    await told(a)
    expect(counts()).toEqual({ losses: 1, gains: 2 })
  })

  it('counts who came and went between two looks', async () => {
    await readers.refresh()
    await told(a)
    expect(counts().losses).toBe(1)
    readers.changed(undefined)
    await readers.refresh()
    expect(counts().losses).toBe(2)
  })

  it('counts nobody because of a doubt', async () => {
    await readers.refresh()
    readers.doubt(a)
    await readers.refresh()
    expect(counts().losses).toBe(0)
    may(b, Infinity)
    readers.doubt(b)
    await readers.refresh()
    expect(counts()).toEqual({ losses: 0, gains: 1 })
  })

  it('counts a key holder that may not grant any more', async () => {
    may(a, Infinity, { grant: true })
    await readers.refresh()
    expect(readers.holds(a, clock.now())).toBe(true)
    may(a, Infinity)
    await told(a)
    expect(readers.holds(a, clock.now())).toBe(false)
    expect(counts().losses).toBe(1)
  })

  it('looks up what changed while it was being asked for', async () => {
    may(a, Infinity)
    const { promise, resolve } = Promise.withResolvers<void>()
    answering = promise
    const refreshed = readers.refresh()
    may(b, Infinity)
    readers.changed(b)
    resolve()
    await refreshed
    expect(readers.readersAt(clock.now())).toEqual([a, b].sort())
    expect(readers.isCurrent).toBe(true)
  })

  it('is not current while it is being asked for', async () => {
    may(a, Infinity)
    await readers.refresh()
    may(a, 0)
    const refreshed = told(a)
    expect(readers.isCurrent).toBe(false)
    await refreshed
    expect(readers.isCurrent).toBe(true)
  })

  it('regards later what the registry did not answer', async () => {
    may(a, Infinity)
    await readers.refresh()
    answering = Promise.reject(new Error('away'))
    may(a, 0)
    await expect(told(a)).rejects.toThrow('away')
    expect(readers.isCurrent).toBe(false)
    answering = Promise.resolve()
    await readers.refresh()
    expect(readers.reads(a, clock.now())).toBe(false)
  })

  describe('while the registry does not answer', () => {
    const hear = async (user: typeof a, change: ToldChange) => {
      readers.changed(user, change)
      await expect(readers.refresh()).rejects.toThrow('away')
    }
    beforeEach(async () => {
      may(a, Infinity)
      await readers.refresh()
      answering = Promise.reject(new Error('away'))
    })

    it('goes by what it told, once, and looks that up later', async () => {
      await hear(a, { block: 12, permissions: noPermissions })
      await expect(readers.refresh()).rejects.toThrow('away')
      expect(readers.reads(a, clock.now())).toBe(false)
      expect(readers).toMatchObject({ isCurrent: false, block: 10, lossBlock: 12 })
      expect(counts()).toEqual({ losses: 1, gains: 1 })
      answering = Promise.resolve()
      registry.clear()
      await readers.refresh()
      expect(readers).toMatchObject({ isCurrent: true, block: 12, lossBlock: 12 })
      expect(counts()).toEqual({ losses: 1, gains: 1 })
    })

    it('of two changes the later block counts, whichever was told first', async () => {
      const given = { ...noPermissions, subscribeUntilMs: Infinity }
      readers.changed(b, { block: 13, permissions: given })
      await hear(b, { block: 12, permissions: noPermissions })
      expect(readers.reads(b, clock.now())).toBe(true)
      await hear(b, { block: 14, permissions: noPermissions })
      expect(readers.reads(b, clock.now())).toBe(false)
    })

    it('does not go by a change that was taken back before it was regarded', async () => {
      readers.changed(a, { block: 12, permissions: noPermissions })
      await hear(a, { block: 12 })
      expect(readers.reads(a, clock.now())).toBe(true)
    })
  })

  it('takes away who is not listed any more', async () => {
    may(a, Infinity)
    await readers.refresh()
    registry.delete(a)
    readers.changed(undefined)
    await readers.refresh()
    expect(counts().losses).toBeGreaterThan(0)
    expect(readers.readersAt(clock.now())).toEqual([])
  })
})
