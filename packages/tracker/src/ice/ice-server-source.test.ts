import { execFileSync } from 'node:child_process'
import { inspect } from 'node:util'
import { isRunnelError } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId } from '../core/tracker-core.testkit.ts'
import { createIceServerSource } from './ice-server-source.ts'

const turn = { urls: ['turn:turn.example.org:3478?transport=udp'], secret: 'north', ttlS: 600 }

describe('ICE servers', () => {
  it('come as they are when they need no credentials', () => {
    const source = createIceServerSource({ servers: ['stun:stun.example.org:3478'] })
    expect(source.renewAfterMs).toBeUndefined()
    expect(source.serversFor(nodeId(1), 0)).toEqual({
      type: 'iceServers',
      servers: [{ url: 'stun:stun.example.org:3478', username: '', credential: '' }],
      ttlS: 0,
    })
  })

  it('have a credential as openssl computes it, good for the given time', () => {
    const source = createIceServerSource({ turn })
    const [server] = source.serversFor(nodeId(1), 1_700_000_000_500).servers
    expect(server?.username).toBe(`1700000600:${nodeId(1)}`)
    const args = ['dgst', '-sha1', '-hmac', turn.secret, '-binary']
    const expected = execFileSync('openssl', args, { input: server?.username ?? '' }).toString('base64')
    expect(server?.credential).toBe(expected)
    expect(source.renewAfterMs).toBe(450_000)
  })

  it('never show the secret', () => {
    const source = createIceServerSource({ turn })
    const shown = inspect([source, source.serversFor(nodeId(1), 0)], { depth: 9, showHidden: true })
    expect(shown).not.toContain(turn.secret)
  })

  const urls = Array.from({ length: 17 }, (_, i) => `stun:s${i}.example.org`)
  for (const [name, options] of [
    ['another scheme', { servers: ['http://example.org'] }],
    ['too many servers', { servers: urls }],
    ['an empty secret', { turn: { ...turn, secret: '' } }],
    ['a time too short to renew', { turn: { ...turn, ttlS: 5 } }],
  ] as const) {
    it(`refuse ${name}`, () => {
      let error: unknown
      try {
        createIceServerSource(options)
      } catch (thrown) {
        error = thrown
      }
      expect(isRunnelError(error, 'INVALID_TRACKER_OPTIONS')).toBe(true)
    })
  }
})
