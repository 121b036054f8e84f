import { describe, expect, it } from 'vitest'
import { isContactUrl } from './contact-url.ts'

const schemes = ['ws', 'wss']

describe('isContactUrl', () => {
  it.each(['ws://node.example', 'wss://node.example/', 'ws://192.0.2.1:8080', 'wss://[2001:db8::1]:443'])(
    'takes %j',
    (url) => expect(isContactUrl(url, schemes)).toBe(true),
  )

  it.each([
    '',
    'tcp://node.example:1',
    'http://node.example',
    'ws:node.example',
    'ws://',
    'ws://node.example/path',
    'ws://node.example//',
    'ws://node.example/?query',
    'ws://node.example?query',
    'ws://node.example#fragment',
    'ws://user@node.example',
    'ws://user:password@node.example',
    'ws://node.example\\path',
    'ws://node.example:65536',
    'ws://node example',
    'ws://node.example ',
    'WS://node.example',
    'ftp://memory:',
  ])('refuses %j', (url) => expect(isContactUrl(url, schemes)).toBe(false))

  it('reads other schemes in the same way', () => {
    expect(isContactUrl('tcp://192.0.2.1:4000', ['tcp'])).toBe(true)
    expect(isContactUrl('tcp://192.0.2.1:65536', ['tcp'])).toBe(false)
    expect(isContactUrl('tcp://192.0.2.1:4000/path', ['tcp'])).toBe(false)
  })
})
