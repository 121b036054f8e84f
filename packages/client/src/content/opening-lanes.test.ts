import type { StreamMessage } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textMessage, textOf } from './content.testkit.ts'
import { openAhead } from './open-ahead.ts'
import { OpeningBudget } from './opening-budget.ts'
import { OpeningLanes } from './opening-lanes.ts'

/** Lanes whose messages open when told; those whose text begins with a letter at once, and with a ! never rightly. */
function setUp(limits = { maxItems: 1_000, maxBytes: 1e6 }) {
  const out: string[] = []
  const pending: { text: string; finish: () => void }[] = []
  let mostPending = 0
  const open = (message: StreamMessage) => {
    const text = textOf(message)
    if (/^[a-z]/.test(text)) return message
    const { promise, resolve, reject } = Promise.withResolvers<StreamMessage>()
    const finish = () => (text.startsWith('!') ? reject(new Error('unreadable')) : resolve(message))
    pending.push({ text, finish })
    mostPending = Math.max(mostPending, pending.length)
    return promise
  }
  const budget = new OpeningBudget(limits)
  const lanes = new OpeningLanes(budget, {
    open,
    events: {
      opened: (message) => out.push(textOf(message)),
      failed: (message) => out.push(textOf(message)),
    },
  })
  const finish = async (at: number) => {
    pending.splice(at, 1)[0]?.finish()
    await Promise.resolve().then(() => {})
  }
  return { lanes, budget, out, pending, open, finish, mostPending: () => mostPending }
}

describe('messages that are opened', () => {
  it('are given on at once when that takes no time', () => {
    const { lanes, out } = setUp()
    lanes.push(textMessage(1, 'a'))
    expect([out, lanes.isEmpty]).toEqual([['a'], true])
  })

  it('wait for those before them in their chain, and for no other chain', async () => {
    const { lanes, out, finish } = setUp()
    lanes.push(textMessage(1, '1', 'slow'))
    lanes.push(textMessage(2, 'after 1', 'slow'))
    lanes.push(textMessage(3, 'other', 'quick'))
    expect(out).toEqual(['other'])
    await finish(0)
    await lanes.settled()
    expect(out).toEqual(['other', '1', 'after 1'])
  })

  it('come out each once, in the order of their chain, whatever comes and in whatever order it opens', async () => {
    const arrival = fc.record({ chain: fc.constantFrom('a', 'b', 'c'), kind: fc.constantFrom('', '!', 'x') })
    const property = fc.asyncProperty(
      fc.array(arrival, { maxLength: 120 }),
      fc.infiniteStream(fc.nat()),
      async (arrivals, choices) => {
        const { lanes, out, pending, finish, mostPending } = setUp()
        const choose = (count: number) => (choices.next().value as number) % count
        for (const [i, { chain, kind }] of arrivals.entries()) {
          lanes.push(textMessage(i, `${kind}${i} ${chain}`, chain))
          if (pending.length > 0 && choose(2) === 0) await finish(choose(pending.length))
        }
        while (pending.length > 0) await finish(choose(pending.length))
        await lanes.settled()
        for (const chain of ['a', 'b', 'c']) {
          const sent = arrivals.map((one, i) => ({ ...one, text: `${one.kind}${i} ${one.chain}` }))
          const expected = sent.filter((one) => one.chain === chain).map(({ text }) => text)
          expect(out.filter((text) => text.endsWith(chain))).toEqual(expected)
        }
        expect(mostPending()).toBeLessThanOrEqual(12)
      },
    )
    await fc.assert(property)
  })

  it('are opened 64 at a time at most, and 4 of one chain, also while the first takes long', async () => {
    const { lanes, pending, finish } = setUp()
    for (let i = 0; i < 10; i++) lanes.push(textMessage(i, `${i}`, 'one'))
    expect(pending.length).toBe(4)
    // Those behind the first are open, and wait for it: there is no room for more.
    for (let i = 0; i < 3; i++) await finish(1)
    expect(pending.length).toBe(1)
    for (let i = 0; i < 100; i++) lanes.push(textMessage(i, `${i}`, `chain ${i}`))
    expect(pending.length).toBe(61)
    while (pending.length > 0) await finish(0)
    await lanes.settled()
    expect(lanes.isEmpty).toBe(true)
  })

  it('beyond a limit the oldest go, and what was asked for them meanwhile counts for nothing', async () => {
    const { lanes, out, pending, finish } = setUp({ maxItems: 3, maxBytes: 1e6 })
    const dropped = [1, 2, 3, 4, 5].map((i) => lanes.push(textMessage(i)))
    expect(dropped).toEqual([0, 0, 0, 1, 1])
    while (pending.length > 0) await finish(0)
    await lanes.settled()
    expect(out).toEqual(['3', '4', '5'])
  })

  it('leave room for who can wait', async () => {
    const { lanes, budget, finish } = setUp({ maxItems: 4, maxBytes: 1e6 })
    for (const i of [1, 2, 3]) lanes.push(textMessage(i))
    let hasRoom = false
    const waiting = budget.room().then(() => (hasRoom = true))
    await Promise.resolve()
    expect(hasRoom).toBe(false)
    await finish(0)
    await waiting
    expect(hasRoom).toBe(true)
  })
})

describe('messages opened ahead', () => {
  it('come in order, with those that cannot be opened in their places, and at most 32 are open', async () => {
    const { open, pending, finish, mostPending } = setUp()
    const texts = Array.from({ length: 100 }, (_, i) => `${['', '!', 'a'][i % 3]}${i}`)
    const out: string[] = []
    for (const next of openAhead(
      texts.map((text, i) => textMessage(i, text)),
      open,
    )) {
      while (next instanceof Promise && pending.length > 0) await finish(pending.length - 1)
      const one = next instanceof Promise ? await next : next
      out.push(textOf('error' in one ? one.message : one.opened))
    }
    expect(out).toEqual(texts)
    expect(mostPending()).toBeLessThanOrEqual(32)
  })
})
