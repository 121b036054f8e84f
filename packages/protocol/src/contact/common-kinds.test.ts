import { describe, expect, it } from 'vitest'
import type { Address, Contact } from '../messages/packets/overlay.ts'
import { canConnect, commonKinds, sameContact } from './common-kinds.ts'

const websocket: Address = { kind: 'websocket', text: 'ws://h:1' }
const webrtc: Address = { kind: 'webrtc', text: '' }
const contacts = {
  nothing: { addresses: [], dials: [] },
  dials: { addresses: [], dials: ['websocket'] },
  listens: { addresses: [websocket], dials: [] },
  server: { addresses: [websocket], dials: ['websocket'] },
  webrtc: { addresses: [webrtc], dials: ['webrtc'] },
  browser: { addresses: [webrtc], dials: ['websocket', 'webrtc'] },
  later: { addresses: [{ kind: 'x-9', text: 'of a later version' }], dials: ['x-9'] },
} satisfies Record<string, Contact>
type Name = keyof typeof contacts

const table: Record<Name, readonly Name[]> = {
  nothing: [],
  dials: ['listens', 'server'],
  listens: ['dials', 'server', 'browser'],
  server: ['dials', 'listens', 'server', 'browser'],
  webrtc: ['webrtc', 'browser'],
  browser: ['listens', 'server', 'webrtc', 'browser'],
  later: ['later'],
}

describe('canConnect', () => {
  for (const a of Object.keys(contacts) as Name[]) {
    for (const b of Object.keys(contacts) as Name[]) {
      it(`${a} and ${b}: ${table[a].includes(b)}`, () => {
        expect(canConnect(contacts[a], contacts[b])).toBe(table[a].includes(b))
        expect(commonKinds(contacts[a], contacts[b]).length > 0).toBe(table[a].includes(b))
      })
    }
  }
})

describe('commonKinds', () => {
  const all: Contact = { addresses: [websocket, webrtc], dials: ['websocket', 'webrtc'] }
  const other: Contact = { addresses: [webrtc], dials: ['webrtc', 'websocket'] }

  it('goes by the order of the first', () => {
    expect(commonKinds(all, other)).toEqual(['websocket', 'webrtc'])
    expect(commonKinds(other, all)).toEqual(['webrtc', 'websocket'])
  })

  it('has what only the second dials at the end', () => {
    expect(commonKinds({ ...all, dials: ['webrtc'] }, contacts.browser)).toEqual(['webrtc', 'websocket'])
  })
})

describe('sameContact', () => {
  it('looks at all of it', () => {
    const names = Object.keys(contacts) as Name[]
    for (const a of names)
      for (const b of names) expect(sameContact(contacts[a], structuredClone(contacts[b]))).toBe(a === b)
    const moved = { ...contacts.server, addresses: [{ ...websocket, text: 'ws://h:2' }] }
    expect(sameContact(contacts.server, moved)).toBe(false)
  })
})
