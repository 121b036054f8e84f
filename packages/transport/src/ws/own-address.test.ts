import { describe, expect, it } from 'vitest'
import { ownAddresses } from './own-address.ts'

const publicUrl = 'wss://server.example'
const overLoopback = { localAddress: '::ffff:127.0.0.1', localPort: 8080 }
const fromOutside = { localAddress: '192.0.2.1', localPort: 8080 }

describe('the addresses of a listener', () => {
  it('are all where it was told no public URL, whatever it listens on', () => {
    for (const socket of [overLoopback, fromOutside, {}])
      for (const dialled of ['server.example:8080', '192.0.2.9:80', ''])
        expect(ownAddresses({}, socket)(dialled)).toBe(true)
  })

  it('are its public URL, others that it was given, and where the socket came in', () => {
    const listen = { publicUrl, alsoKnownAs: ['ws://node-1:8080', 'wss://old.example/', 'nonsense'] }
    const isOwn = ownAddresses(listen, fromOutside)
    for (const dialled of ['server.example:443', 'node-1:8080', 'old.example:443', '192.0.2.1:8080'])
      expect(isOwn(dialled)).toBe(true)
    const others = ['server.example:80', 'node-1:443', 'other.example:443', '192.0.2.1:443', '192.0.2.2:8080']
    for (const dialled of [...others, 'localhost:8080', '127.0.0.1:8080', ''])
      expect(isOwn(dialled)).toBe(false)
  })

  it.each([
    overLoopback,
    { localAddress: '::1', localPort: 8080 },
    { localAddress: '127.0.0.2', localPort: 8080 },
  ])('are those of this machine too for who comes in at $localAddress', (socket) => {
    const isOwn = ownAddresses({ publicUrl }, socket)
    for (const dialled of ['localhost:8080', '127.0.0.1:8080', '127.3.2.1:8080', '[::1]:8080'])
      expect(isOwn(dialled)).toBe(true)
    for (const dialled of ['localhost:8081', '127.0.0.1:80', 'a.localhost:8080', '127.0.0.1.example:8080'])
      expect(isOwn(dialled)).toBe(false)
  })
})
