import { describe, expect, it } from 'vitest'
import { isContactUrl } from './contact-url.ts'

describe('isContactUrl', () => {
  it.each(['', 'ws://node.example', 'wss://node.example/', 'ws://192.0.2.1:8080', 'wss://[2001:db8::1]:443'])(
    'takes %j',
    (url) => expect(isContactUrl(url)).toBe(true),
  )

  it.each([
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
  ])('refuses %j', (url) => expect(isContactUrl(url)).toBe(false))
})
