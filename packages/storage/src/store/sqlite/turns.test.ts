import { describe, expect, it } from 'vitest'
import { turns as settle } from '../../storage.testkit.ts'
import { Turns } from './turns.ts'

describe('Turns', () => {
  /** Work that ends when it is told to, by name. */
  function createWork() {
    const began: string[] = []
    const ends = new Map<string, PromiseWithResolvers<string>>()
    const work = (name: string) => () => {
      began.push(name)
      const end = Promise.withResolvers<string>()
      ends.set(name, end)
      return end.promise
    }
    return { began, work, ends }
  }

  it('does one thing at a time, of each key by turns', async () => {
    const turns = new Turns()
    const { began, work, ends } = createWork()
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
    const results = names.map((name) => turns.run(name.charAt(0), work(name)))
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
      await settle()
      expect(began.at(-1)).toBe(name)
      ends.get(name)?.resolve(`${name} done`)
    }
    expect(await Promise.all(results)).toEqual(names.map((name) => `${name} done`))
  })

  it('goes on after work that failed, and forgets what was cancelled while it waited', async () => {
    const turns = new Turns()
    const { began, work, ends } = createWork()
    const going = new AbortController()
    const failing = turns.run('a', work('a1'))
    const cancelled = turns.run('a', work('a2'), going.signal)
    const last = turns.run('a', work('a3'), going.signal)
    const kept = turns.run('b', work('b1'))
    going.abort(new Error('gone'))
    await expect(cancelled).rejects.toThrow('gone')
    await expect(last).rejects.toThrow('gone')
    ends.get('a1')?.reject(new Error('failed'))
    await expect(failing).rejects.toThrow('failed')
    await settle()
    expect(began).toEqual(['a1', 'b1'])
    ends.get('b1')?.resolve('done')
    expect(await kept).toBe('done')
    await expect(turns.run('a', work('a4'), going.signal)).rejects.toThrow('gone')
    expect(began).toHaveLength(2)
  })

  it('lets only so many wait', async () => {
    const turns = new Turns()
    const { work, ends } = createWork()
    const waiting = Array.from({ length: 1001 }, (_, index) =>
      turns.run(`${index}`, index === 0 ? work('first') : async () => 'done'),
    )
    await expect(turns.run('more', work('more'))).rejects.toMatchObject({ code: 'STORE_OVERLOADED' })
    ends.get('first')?.resolve('done')
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['done']))
  })
})
