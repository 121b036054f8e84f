import { describe, expect, it } from 'vitest'
import { parseConfig } from './config.ts'

const document = { version: 1, trackers: [], streams: [] } as const
const network = { kind: 'static', document } as const

describe('a configuration', () => {
  it('needs a network only; the rest has defaults', () => {
    expect(parseConfig({ network })).toEqual({
      network: { kind: 'static', document: { ...document, chainId: 0 } },
      delegationRequest: {
        lastsMs: 86_400_000,
        streams: [],
        publishes: true,
        reads: true,
        requester: 'a Runnel client',
      },
      guests: { serve: false },
      transports: {},
      thinFloods: true,
      waitForNeighboursMs: 5_000,
      closeTimeoutMs: 5_000,
      maxLiveAgeMs: 600_000,
      registry: { maxAgeMs: 600_000, maxCachedEntries: 10_000, pollIntervalMs: 2_000 },
      publish: { maxQueuedMessages: 100_000, maxQueuedBytes: 67_108_864, compress: 'none' },
      subscribe: { maxQueuedMessages: 10_000, maxQueuedBytes: 67_108_864 },
    })
  })

  it('of a light client has no transport that its hosts do not need, unless it is named', () => {
    const via = ['wss://one.example.com', { url: 'wss://two.example.com', nodeId: `0x${'a'.repeat(40)}` }]
    expect(parseConfig({ network, via }).transports).toEqual({ webrtc: false, circuits: false })
    expect(parseConfig({ network, via: { hosts: via }, transports: { webrtc: {} } })).toMatchObject({
      via: { hosts: via, atOnce: 2 },
      transports: { webrtc: {}, circuits: false },
    })
  })

  it.each([
    ['nothing', undefined, /\(top level\): /],
    ['no network', {}, /network: /],
    ['a host that is no URL', { network, via: ['example.org'] }, /via.*: must be a URL/],
    ['a host by its HTTP', { network, via: ['http://a.example.com'] }, /via.*: must be a URL.*ws:/],
    ['a host that no URL names', { network, via: { hosts: ['wss://[a'] } }, /via.*: must be a URL/],
    ['a host that nothing dials', { network, via: [{ url: 'tcp://a:1' }] }, /via: .*transports\.tcp/],
    [
      'a host without WebSockets',
      { network, via: { hosts: ['ws://a'] }, transports: { websocket: false } },
      /via: .*transports\.websocket/,
    ],
    ['no host', { network, via: [] }, /via: /],
    ['a light client with guests', { network, via: ['ws://a'], guests: { serve: true } }, /via and guests/],
    ['an unknown key', { network, netwrok: 1 }, /"netwrok"/],
    ['an unknown key further in', { network, publish: { maxBytes: 1 } }, /publish: .*"maxBytes"/],
    ['an unknown kind of network', { network: { kind: 'dns' } }, /network\.kind: /],
    [
      'a mistake in the document',
      { network: { kind: 'static', document: { ...document, version: 3 } } },
      /network\.document\.version: /,
    ],
    [
      'an RPC URL of another protocol',
      { network: { kind: 'chain', rpcUrl: 'ipc://x', registries: {} } },
      /network\.rpcUrl: must be/,
    ],
    ['a negative time', { network, closeTimeoutMs: -1 }, /closeTimeoutMs: /],
    [
      'a port there is not',
      { network, transports: { websocket: { listen: { port: 70_000 } } } },
      /transports\.websocket/,
    ],
  ])('with %s is refused, and says where', (_, config, message) => {
    expect(() => parseConfig(config)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringMatching(message) }),
    )
  })

  it('never quotes a key', () => {
    const privateKey = 'f00d'.repeat(16)
    const seen: unknown[] = []
    for (const config of [
      { privateKey },
      { privateKey: { privateKey }, network },
      { network, [`x`]: privateKey },
      { network, readingKey: { userId: `0x${'ab'.repeat(20)}`, generation: 0, secret: privateKey } },
      { network, readingKey: `0x${privateKey}` },
    ]) {
      try {
        parseConfig(config)
      } catch (error) {
        seen.push(error)
      }
    }
    expect(seen).toHaveLength(5)
    expect(seen.map(String).join()).not.toContain('f00d')
  })
})
