import { toNodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { LinkClocks } from './link-clocks.ts'

const peer = toNodeId(`0x${'a'.repeat(40)}`)

function world() {
  const asked: number[] = []
  const clocks = new LinkClocks({ ask: (_, token) => asked.push(token) })
  /** The peer, whose clock is 5,000 ms ahead, answers the last question `thereMs` after it was asked; it takes `backMs` back. */
  const answer = (nowMs: number, thereMs: number, backMs: number): number => {
    const atUs = (nowMs + thereMs + 5_000) * 1000
    clocks.told(peer, { token: asked.at(-1) ?? -1, atUs }, nowMs + thereMs + backMs)
    return nowMs + thereMs + backMs
  }
  return { asked, clocks, answer }
}

describe('LinkClocks', () => {
  it('knows the offset from one answer on a symmetric link', () => {
    const { clocks, answer } = world()
    clocks.linkOpened(peer, 100)
    expect(clocks.offsetMs(peer)).toBeUndefined()
    answer(100, 20, 20)
    expect(clocks.offsetMs(peer)).toBeCloseTo(5_000)
  })

  it('believes the quickest answer', () => {
    const { clocks, answer, asked } = world()
    clocks.linkOpened(peer, 0)
    let nowMs = answer(0, 20, 90)
    nowMs = answer(nowMs, 20, 20)
    for (let i = 2; i < 8; i++) nowMs = answer(nowMs, 70, 20)
    expect(asked).toHaveLength(8)
    expect(clocks.offsetMs(peer)).toBeCloseTo(5_000)
    expect(clocks.known).toBe(1)
  })

  it('asks again after a while, and forgets old answers', () => {
    const { clocks, answer, asked } = world()
    clocks.linkOpened(peer, 0)
    let nowMs = 0
    for (let i = 0; i < 8; i++) nowMs = answer(nowMs, 1, 1)
    for (let i = 0; i < 8; i++) {
      nowMs += 5_000
      clocks.askAgain(peer, nowMs)
      expect(clocks.isStale(peer, nowMs)).toBe(false)
      // On a link that has become lopsided all answers are as wrong as each other.
      nowMs = answer(nowMs, 30, 10)
    }
    expect(asked).toHaveLength(16)
    expect(clocks.offsetMs(peer)).toBeCloseTo(5_010)
  })

  it('takes no answer that it did not ask for', () => {
    const { clocks, asked } = world()
    clocks.told(peer, { token: 1, atUs: 0 }, 0)
    clocks.linkOpened(peer, 0)
    clocks.told(peer, { token: (asked[0] ?? 0) + 1, atUs: 0 }, 1)
    expect(clocks.offsetMs(peer)).toBeUndefined()
    clocks.told(peer, { token: asked[0] ?? 0, atUs: 5_000_000 }, 2)
    clocks.linkClosed(peer)
    expect(clocks.offsetMs(peer)).toBeUndefined()
  })
})
