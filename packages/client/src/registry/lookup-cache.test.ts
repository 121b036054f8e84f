import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { LookupCache } from './lookup-cache.ts'

interface Value {
  readonly key: string
  readonly version: number
}

/** A source whose answers the test gives one by one. */
function setUp({
  isDenial = false,
  ...options
}: { maxEntries?: number; maxAgeMs?: number; isDenial?: boolean } = {}) {
  const clock = new VirtualClock()
  const asked: { key: string; answer: (version: number) => void; fail: (error: Error) => void }[] = []
  const cache = new LookupCache<string, Value>(
    { maxEntries: 100, maxAgeMs: 1000, ...options },
    {
      clock,
      isDenial: ({ key }) => isDenial && key.startsWith('denied'),
      load: (key) =>
        new Promise((resolve, reject) =>
          asked.push({ key, answer: (version) => resolve({ key, version }), fail: reject }),
        ),
    },
  )
  const ask = async (key: string, version: number) => {
    const found = cache.get(key)
    asked.at(-1)?.answer(version)
    return found
  }
  return { clock, asked, cache, ask }
}

describe('a cache of look-ups', () => {
  it('asks once, and remembers', async () => {
    const { cache, asked, ask } = setUp()
    expect(cache.peek('a')).toBeUndefined()
    expect(await ask('a', 1)).toEqual({ key: 'a', version: 1 })
    expect(await cache.get('a')).toBe(cache.peek('a'))
    expect(asked).toHaveLength(1)
  })

  it('asks once for all who want to know at the same time', async () => {
    const { cache, asked } = setUp()
    const answers = [cache.get('a'), cache.get('a'), cache.get('b')]
    expect(asked.map(({ key }) => key)).toEqual(['a', 'b'])
    asked.forEach(({ answer }) => answer(1))
    expect((await Promise.all(answers)).map(({ key }) => key)).toEqual(['a', 'a', 'b'])
  })

  it('remembers no failure', async () => {
    const { cache, asked, ask } = setUp()
    const failing = cache.get('a')
    asked[0]?.fail(new Error('away'))
    await expect(failing).rejects.toThrow('away')
    expect(await ask('a', 2)).toEqual({ key: 'a', version: 2 })
  })

  it('goes on using what is old, and asks again behind the scenes', async () => {
    const { cache, clock, asked, ask } = setUp({ maxAgeMs: 1000 })
    await ask('a', 1)
    clock.advanceBy(999)
    expect(cache.peek('a')?.version).toBe(1)
    expect(asked).toHaveLength(1)
    clock.advanceBy(1)
    expect(cache.peek('a')?.version).toBe(1)
    expect(asked).toHaveLength(2)
    const flying = asked[1]
    flying?.answer(2)
    await Promise.resolve().then(() => undefined)
    expect((await cache.get('a')).version).toBe(2)
  })

  it.each([-3_600_000, 3_600_000])(
    'asks again as soon when the wall clock is set %d ms ahead',
    async (byMs) => {
      const { cache, clock, asked, ask } = setUp({ maxAgeMs: 1000 })
      await ask('a', 1)
      clock.moveWall(byMs)
      clock.advanceBy(999)
      cache.peek('a')
      expect(asked).toHaveLength(1)
      clock.advanceBy(1)
      cache.peek('a')
      expect(asked).toHaveLength(2)
    },
  )

  it('keeps what is old while nobody answers, and does not ask all the time', async () => {
    const { cache, clock, asked, ask } = setUp({ maxAgeMs: 1000 })
    await ask('a', 1)
    clock.advanceBy(1000)
    cache.peek('a')
    asked[1]?.fail(new Error('away'))
    for (let i = 0; i < 100; i++) expect((await cache.get('a')).version).toBe(1)
    expect(asked).toHaveLength(2)
    clock.advanceBy(5000)
    cache.peek('a')
    expect(asked).toHaveLength(3)
  })

  it('forgets what is wrong', async () => {
    const { cache, ask } = setUp()
    await ask('a', 1)
    await ask('b', 1)
    cache.forget((key) => key === 'a')
    expect(cache.peek('a')).toBeUndefined()
    expect(cache.peek('b')?.version).toBe(1)
  })

  it('repeats a look-up that a change overtook, so that whoever waits gets what is true, and it is known', async () => {
    const { cache, asked } = setUp()
    const first = cache.get('a')
    cache.forget((key) => key === 'a')
    const second = cache.get('a')
    asked[0]?.answer(1)
    asked[1]?.answer(2)
    expect([(await first).version, (await second).version]).toEqual([2, 2])
    expect(cache.peek('a')?.version).toBe(2)
    expect(asked).toHaveLength(2)
  })

  it('does not let an overtaken look-up that fails hide the repeated one', async () => {
    const { cache, asked } = setUp()
    const first = cache.get('a')
    cache.forget(() => true)
    asked[0]?.fail(new Error('away'))
    await expect(first).rejects.toThrow('away')
    const second = cache.get('a')
    asked[1]?.answer(2)
    expect((await second).version).toBe(2)
  })

  it('keeps so many entries, and drops the one not used for longest', async () => {
    const { cache, ask } = setUp({ maxEntries: 2 })
    await ask('a', 1)
    await ask('b', 1)
    cache.peek('a')
    await ask('c', 1)
    expect([cache.size, cache.evicted]).toEqual([2, 1])
    expect(['a', 'b', 'c'].map((key) => cache.peek(key) !== undefined)).toEqual([true, false, true])
  })

  it('looks up for one while another causes more than there may be at once', async () => {
    const { cache, asked } = setUp({ maxEntries: 1_000 })
    const many = Array.from({ length: 1_000 }, (_, i) => cache.get(`many ${i}`, 'many'))
    const outcomes = Promise.allSettled(many)
    expect(asked).toHaveLength(256)
    const few = Array.from({ length: 100 }, (_, i) => cache.get(`few ${i}`, 'few'))
    const own = cache.get('own')
    // Whose answers come all the same.
    expect(asked).toHaveLength(357)
    asked.forEach(({ answer }) => answer(1))
    expect(await Promise.all([...few, own])).toHaveLength(101)
    expect((await outcomes).filter(({ status }) => status === 'fulfilled')).toHaveLength(155)
    expect((await cache.get('many 255')).version).toBe(1)
  })

  it('begins anew for one who waited with another that lost its place', async () => {
    const { cache, asked } = setUp()
    const many = Array.from({ length: 256 }, (_, i) => cache.get(`many ${i}`, 'many'))
    const outcomes = Promise.allSettled(many)
    const own = cache.get('many 255')
    const other = cache.get('other', 'other')
    await expect(many[255]).rejects.toMatchObject({ code: 'TOO_MANY_LOOKUPS' })
    await Promise.resolve().then(() => undefined)
    expect(asked.map(({ key }) => key).slice(256)).toEqual(['other', 'many 255'])
    asked.forEach(({ answer }) => answer(1))
    expect([(await own).key, (await other).key]).toEqual(['many 255', 'other'])
    await outcomes
  })

  it('has at most twice as many under way, with those whose place others took', async () => {
    const { cache, asked } = setUp()
    const all = Array.from({ length: 600 }, (_, i) => cache.get(`${i}`, `cause ${Math.floor(i / 256)}`))
    const outcomes = Promise.allSettled(all)
    expect(asked.length).toBeLessThanOrEqual(512)
    asked.forEach(({ answer }) => answer(1))
    await outcomes
    const again = cache.get('again')
    asked.at(-1)?.answer(1)
    expect((await again).version).toBe(1)
  })

  it('keeps what strangers have looked up apart, so that it pushes out itself only', async () => {
    const { cache, ask } = setUp({ maxEntries: 8, isDenial: true })
    for (let i = 0; i < 8; i++) await ask(`good ${i}`, 1)
    for (let i = 0; i < 20; i++) await ask(`denied ${i}`, 1)
    expect([cache.size, cache.evicted]).toEqual([10, 18])
    expect([cache.peek('good 0')?.version, cache.peek('denied 19')?.version]).toEqual([1, 1])
    expect(cache.peek('denied 17')).toBeUndefined()
  })

  it('looks up only so many at once', async () => {
    const { cache, asked } = setUp()
    const flights = Array.from({ length: 256 }, (_, i) => cache.get(`key ${i}`))
    await expect(cache.get('one more')).rejects.toMatchObject({ code: 'TOO_MANY_LOOKUPS' })
    asked.forEach(({ answer }) => answer(1))
    await Promise.all(flights)
    const again = cache.get('one more')
    asked.at(-1)?.answer(1)
    expect((await again).version).toBe(1)
  })
})
