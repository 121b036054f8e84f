import { describe, expect, it } from 'vitest'
import { parseIceServer, toIceServer } from './ice-server.ts'

describe('parseIceServer', () => {
  it.each([
    ['stun:stun.example.org', 'stun', 'stun.example.org', 3478, 'udp', '', ''],
    ['stun:192.0.2.1:19302', 'stun', '192.0.2.1', 19302, 'udp', '', ''],
    ['turn:u:p@192.0.2.1:3479', 'turn', '192.0.2.1', 3479, 'udp', 'u', 'p'],
    ['turn:u:p@[2001:db8::1]:3479?transport=tcp', 'turn', '2001:db8::1', 3479, 'tcp', 'u', 'p'],
    ['turns:u:p@turn.example.org', 'turns', 'turn.example.org', 5349, 'udp', 'u', 'p'],
  ])('takes %s apart', (url, scheme, hostname, port, transport, username, credential) => {
    const parsed = { scheme, hostname, port, transport, username, credential }
    expect(parseIceServer(url)).toEqual(parsed)
    expect(parseIceServer(toIceServer(url))).toEqual(parsed)
  })

  it('takes time-limited credentials, which hold colons', () => {
    const server = { url: 'turn:turn.example.org', username: '1700000000:0xab', credential: 'a+/=b' }
    expect(parseIceServer(server)).toMatchObject({ username: '1700000000:0xab', credential: 'a+/=b' })
  })

  it.each([
    '',
    'http://example.org',
    'stun:',
    'stun:host:0',
    'stun:host:99999',
    'turn:host',
    'stun:a b',
    'turn:u@host',
  ])('refuses %j', (url) => {
    expect(() => parseIceServer(url)).toThrow(expect.objectContaining({ code: 'INVALID_ICE_SERVER' }))
  })

  it('keeps the credential out of the message', () => {
    expect(() => parseIceServer('turn:user:secret@host:0')).toThrow(/^((?!secret).)*$/)
    expect(() => parseIceServer('turn:user:secret@host/x')).toThrow(/^((?!secret).)*$/)
  })
})
