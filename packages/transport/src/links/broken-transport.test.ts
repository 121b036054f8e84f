import type { Contact } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import type { DialRequest, Transport } from '../ports.ts'
import { transportError } from '../errors.ts'
import { createLinks } from './create-links.ts'
import { identityOf } from './links.testkit.ts'

const here: Contact = { addresses: [], dials: ['websocket', 'tcp'] }
const there: Contact = {
  addresses: ['websocket', 'tcp'].map((kind) => ({ kind, text: `${kind}:` })),
  dials: [],
}

const transport = (kind: string, dial: (request: DialRequest) => void): Transport => ({
  ...{ kind, addresses: [], onInbound() {}, canDial: () => true },
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  dial(request) {
    dial(request)
    return () => {}
  },
})

describe('a transport that throws when it is to dial', () => {
  it('after another way has failed, is one more way that failed', () => {
    const clock = new VirtualClock()
    let dials = 0
    const failing = transport('websocket', ({ onFail }) =>
      clock.schedule(1, () => {
        try {
          onFail(transportError('DIAL_FAILED', 'nobody there'))
        } catch {
          // As each transport does, for its callers.
        }
      }),
    )
    const throwing = transport('tcp', () => {
      dials++
      throw new Error('cannot be dialled')
    })
    const { nodeId } = identityOf('here')
    const links = createLinks(
      { self: nodeId, contact: () => here },
      { clock, transports: [failing, throwing] },
    )
    const failures: (readonly [string, unknown])[] = []
    links.events = { ...links.events, onFailed: (_, { code, cause }) => failures.push([code, cause]) }
    const peer = identityOf('there').nodeId
    for (const attempt of [1, 2]) {
      links.connect(peer, there)
      clock.advanceBy(60_000)
      expect(dials).toBe(attempt)
      expect(failures).toEqual(Array(attempt).fill(['DIAL_FAILED', new Error('cannot be dialled')]))
    }
  })
})
