import { describe, expect, it } from 'vitest'
import { sampleNodeId } from '../messages/samples.testkit.ts'
import { circuitPath, circuitUrl } from './circuit-url.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(sampleNodeId) as [
  ReturnType<typeof sampleNodeId>,
  ReturnType<typeof sampleNodeId>,
  ReturnType<typeof sampleNodeId>,
  ReturnType<typeof sampleNodeId>,
]

describe('the URL of a circuit', () => {
  it('names the trackers that it passes, at the URL of the first', () => {
    expect(circuitUrl('ws://127.0.0.1:4000', [a])).toBe(`ws://127.0.0.1:4000/circuit/${a}`)
    expect(circuitUrl('wss://example.org/tracker/', [a, b])).toBe(
      `wss://example.org/tracker/circuit/${a}/${b}`,
    )
  })

  it('is read by the tracker that it leads to', () => {
    const path = [a, b, c]
    expect(circuitPath(new URL(circuitUrl('ws://localhost', path) ?? '').pathname)).toEqual(path)
  })

  it.each([[[]], [[a, b, c, d]], [[a, b, a]]])('is none for %s', (path) => {
    expect(circuitUrl('ws://localhost', path)).toBeUndefined()
    expect(circuitPath(`/circuit/${path.join('/')}`)).toBeUndefined()
  })

  it.each(['/', '/circuit', '/circuit/', '/circuit/0x12', `/circuit/${a}/`, `/v1/circuit/${a}`])(
    'is not %s',
    (path) => expect(circuitPath(path)).toBeUndefined(),
  )
})
