import { describe, expect, it } from 'vitest'
import type { Contact } from '../messages/packets.ts'
import { canConnect, commonWays } from './common-ways.ts'

const contacts = {
  nothing: { websocketUrl: '', websocket: false, webrtc: false },
  dials: { websocketUrl: '', websocket: true, webrtc: false },
  listens: { websocketUrl: 'ws://h:1', websocket: false, webrtc: false },
  server: { websocketUrl: 'ws://h:1', websocket: true, webrtc: false },
  webrtc: { websocketUrl: '', websocket: false, webrtc: true },
  browser: { websocketUrl: '', websocket: true, webrtc: true },
} satisfies Record<string, Contact>
type Name = keyof typeof contacts

const table: Record<Name, readonly Name[]> = {
  nothing: [],
  dials: ['listens', 'server'],
  listens: ['dials', 'server', 'browser'],
  server: ['dials', 'listens', 'server', 'browser'],
  webrtc: ['webrtc', 'browser'],
  browser: ['listens', 'server', 'webrtc', 'browser'],
}

describe('canConnect', () => {
  for (const a of Object.keys(contacts) as Name[]) {
    for (const b of Object.keys(contacts) as Name[]) {
      it(`${a} and ${b}: ${table[a].includes(b)}`, () => {
        expect(canConnect(contacts[a], contacts[b])).toBe(table[a].includes(b))
      })
    }
  }
})

describe('commonWays', () => {
  it('says who can dial whom', () => {
    expect(commonWays(contacts.dials, contacts.server)).toEqual({
      firstDials: true,
      secondDials: false,
      webrtc: false,
    })
    expect(commonWays(contacts.server, contacts.browser)).toEqual({
      firstDials: false,
      secondDials: true,
      webrtc: false,
    })
    expect(commonWays(contacts.browser, contacts.browser)).toEqual({
      firstDials: false,
      secondDials: false,
      webrtc: true,
    })
  })
})
