import type { Address, Contact, NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { planWays } from './link-plan.ts'

const low = `0x${'1'.repeat(40)}` as NodeId
const high = `0x${'2'.repeat(40)}` as NodeId

const websocket: Address = { kind: 'websocket', text: 'ws://192.0.2.1' }
const webrtc: Address = { kind: 'webrtc', text: '' }
const tcp: Address = { kind: 'tcp', text: 'tcp://192.0.2.1:1' }

const contacts: Record<string, Contact> = {
  server: { addresses: [websocket], dials: ['websocket'] },
  both: { addresses: [websocket, webrtc], dials: ['websocket', 'webrtc'] },
  dialler: { addresses: [webrtc], dials: ['websocket', 'webrtc'] },
  rtc: { addresses: [webrtc], dials: ['webrtc'] },
  client: { addresses: [], dials: ['websocket'] },
  nothing: { addresses: [], dials: [] },
  machine: { addresses: [tcp, websocket, webrtc], dials: ['tcp', 'websocket', 'webrtc'] },
  inside: { addresses: [webrtc], dials: ['tcp', 'websocket', 'webrtc'] },
  // Of another opinion about what is cheap.
  other: { addresses: [tcp, webrtc], dials: ['webrtc', 'tcp', 'x-later'] },
}

function plan(
  self: NodeId,
  mine: string,
  peer: NodeId,
  theirs: string,
  kinds: string[] = ['tcp', 'websocket', 'webrtc'],
  alone = false,
) {
  const [contact, peerContact] = [contacts[mine], contacts[theirs]]
  if (!contact || !peerContact) throw new Error('no such contact')
  const ways = planWays({ self, contact, transports: new Set(kinds), peer, peerContact, alone })
  return ways.map(({ kind, role }) => `${kind} ${role}`).join(', ')
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
    ['machine', 'machine', 'tcp dial, websocket dial, webrtc dial', 'tcp wait, websocket wait, webrtc wait'],
    ['machine', 'inside', 'tcp wait, websocket wait, webrtc wait', 'tcp dial, websocket dial, webrtc dial'],
    ['machine', 'both', 'websocket dial, webrtc dial', 'websocket wait, webrtc wait'],
    ['machine', 'other', 'tcp dial, webrtc dial', 'tcp wait, webrtc wait'],
    ['other', 'machine', 'webrtc dial, tcp dial', 'webrtc wait, tcp wait'],
    // Who dials in the first way dials in the others, and a way in which only the other side could is none.
    ['other', 'both', 'webrtc dial', 'webrtc wait'],
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

  it('dials whoever was not told wherever it can', () => {
    const alone = (mine: string, theirs: string) => plan(high, mine, low, theirs, undefined, true)
    expect(alone('both', 'both')).toBe('websocket dial, webrtc dial')
    expect(alone('both', 'dialler')).toBe('webrtc dial')
    expect(alone('server', 'client')).toBe('')
  })

  it('gives the first address of a kind to who dials, and none to who waits', () => {
    const second: Address = { ...websocket, text: 'ws://192.0.2.2' }
    const server: Contact = { addresses: [websocket, second], dials: ['websocket'] }
    const client: Contact = { addresses: [], dials: ['websocket'] }
    const ids = { self: low, peer: high, transports: new Set(['websocket']) }
    expect(planWays({ ...ids, contact: client, peerContact: server })).toEqual([
      { kind: 'websocket', role: 'dial', address: 'ws://192.0.2.1' },
    ])
    expect(planWays({ ...ids, contact: server, peerContact: client })).toEqual([
      { kind: 'websocket', role: 'wait', address: '' },
    ])
  })
})
