import type { Contact, NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { planWays } from './link-plan.ts'
import type { TransportKind } from '../ports.ts'

const low = `0x${'1'.repeat(40)}` as NodeId
const high = `0x${'2'.repeat(40)}` as NodeId

const contacts: Record<string, Contact> = {
  server: { websocketUrl: 'ws://192.0.2.1', websocket: true, webrtc: false },
  both: { websocketUrl: 'ws://192.0.2.1', websocket: true, webrtc: true },
  dialler: { websocketUrl: '', websocket: true, webrtc: true },
  rtc: { websocketUrl: '', websocket: false, webrtc: true },
  client: { websocketUrl: '', websocket: true, webrtc: false },
  nothing: { websocketUrl: '', websocket: false, webrtc: false },
}

function plan(
  self: NodeId,
  mine: string,
  peer: NodeId,
  theirs: string,
  kinds: TransportKind[] = ['websocket', 'webrtc'],
) {
  const [contact, peerContact] = [contacts[mine], contacts[theirs]]
  if (!contact || !peerContact) throw new Error('no such contact')
  const ways = planWays({ self, contact, transports: new Set(kinds), peer, peerContact })
  return ways.map(({ transport, role }) => `${transport} ${role}`).join(', ')
}

describe('planWays', () => {
  // What the node with the lower id does, and the one with the higher.
  it.each([
    ['both', 'both', 'websocket dial, webrtc dial', 'websocket wait, webrtc wait'],
    ['both', 'dialler', 'websocket wait, webrtc wait', 'websocket dial, webrtc dial'],
    ['dialler', 'both', 'websocket dial, webrtc dial', 'websocket wait, webrtc wait'],
    ['both', 'rtc', 'webrtc dial', 'webrtc wait'],
    ['rtc', 'both', 'webrtc dial', 'webrtc wait'],
    ['dialler', 'dialler', 'webrtc dial', 'webrtc wait'],
    ['server', 'server', 'websocket dial', 'websocket wait'],
    ['server', 'client', 'websocket wait', 'websocket dial'],
    ['server', 'rtc', '', ''],
    ['client', 'client', '', ''],
    ['client', 'rtc', '', ''],
    ['nothing', 'both', '', ''],
  ])('%s with %s', (lower, higher, ofLower, ofHigher) => {
    expect(plan(low, lower, high, higher)).toBe(ofLower)
    expect(plan(high, higher, low, lower)).toBe(ofHigher)
  })

  it('never plans two diallers or two who wait, whatever the contacts', () => {
    const names = Object.keys(contacts)
    for (const mine of names) {
      for (const theirs of names) {
        const exchanged = plan(high, theirs, low, mine).replace(/dial|wait/g, (role) =>
          role === 'dial' ? 'wait' : 'dial',
        )
        expect(plan(low, mine, high, theirs)).toBe(exchanged)
      }
    }
  })

  it('leaves out what this node does not have', () => {
    expect(plan(low, 'both', high, 'both', ['webrtc'])).toBe('webrtc dial')
    expect(plan(low, 'both', high, 'both', ['websocket'])).toBe('websocket dial')
    expect(plan(low, 'both', high, 'both', [])).toBe('')
  })

  it('takes memory where there is memory', () => {
    expect(plan(low, 'nothing', high, 'nothing', ['memory'])).toBe('memory dial')
    expect(plan(high, 'both', low, 'both', ['memory', 'webrtc'])).toBe('memory wait')
  })
})
