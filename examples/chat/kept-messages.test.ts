import type { Message } from '@runnel/client/browser'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keptMessages } from './kept-messages.ts'

const said = { name: 'Ada', text: 'good morning' }
const message = (timestamp: number): Message =>
  ({ publisherId: '0xa', messageChainId: 'chain', timestamp, sequenceNumber: 0 }) as Message

beforeEach(() => {
  const items = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => items.set(name, text),
  })
})
afterEach(() => void vi.unstubAllGlobals())

it('are shown in each tab once, though all tabs keep them in one place', () => {
  const [first, second] = [keptMessages('lobby', 2), keptMessages('lobby', 2)]
  expect([first, second].map((tab) => tab.add(message(1), said))).toEqual([true, true])
  expect([first, second].map((tab) => tab.add(message(1), said))).toEqual([false, false])
  const third = keptMessages('lobby', 2)
  expect(third.all()).toMatchObject([said])
  expect(third.add(message(1), said)).toBe(false)
})

it('are the newest', () => {
  const page = keptMessages('lobby', 2)
  for (const timestamp of [1, 2, 3]) page.add(message(timestamp), { name: 'Ada', text: `${timestamp}` })
  expect(
    keptMessages('lobby', 2)
      .all()
      .map(({ text }) => text),
  ).toEqual(['2', '3'])
})

it('are shown also where there is no room for them', () => {
  vi.stubGlobal('localStorage', {
    getItem: () => null,
    setItem: () => {
      throw new DOMException('full', 'QuotaExceededError')
    },
  })
  expect(keptMessages('lobby', 2).add(message(1), said)).toBe(true)
})
