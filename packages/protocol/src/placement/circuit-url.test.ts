import { describe, expect, it } from 'vitest'
import { toNodeId, type NodeId } from '../ids/node-id.ts'
import { circuitPath, circuitUrl } from './circuit-url.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((digit) => toNodeId(`0x${digit.repeat(40)}`)) as [
  NodeId,
  NodeId,
  NodeId,
  NodeId,
]

describe('the URL of a circuit', () => {
  it.each([
    ['wss://tracker.example', `wss://tracker.example/circuit/${a}`],
    ['ws://127.0.0.1:4000/', `ws://127.0.0.1:4000/circuit/${a}`],
    ['wss://tracker.example/behind/proxy', `wss://tracker.example/behind/proxy/circuit/${a}`],
    ['wss://tracker.example/behind/?key=1#there', `wss://tracker.example/behind/circuit/${a}`],
    ['memory://tracker', `memory://tracker/circuit/${a}`],
  ])('is relative to that of the tracker: %s', (url, expected) => {
    expect(circuitUrl(url, [a])).toBe(expected)
  })

  it('names the trackers on the way, and is read as it was written', () => {
    for (const path of [[a], [b, a], [c, b, a]])
      expect(circuitPath(new URL(circuitUrl('wss://tracker.example/x', path)).pathname)).toEqual(path)
  })

  it.each([
    ['', 'none'],
    ['/', 'none'],
    [`/${a}`, 'no circuit'],
    ['/circuit', 'nobody'],
    ['/circuit/', 'nobody'],
    [`/circuit/${a}/`, 'somebody without a name'],
    ['/circuit/0x12', 'no id'],
    [`/circuit/${a}/${b}/${a}`, 'one twice'],
    [`/circuit/${a}/${b}/${c}/${d}`, 'too many'],
  ])('is not %s (%s)', (path) => {
    expect(circuitPath(path)).toBeUndefined()
  })
})
