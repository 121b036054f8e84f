import { describe, expect, it } from 'vitest'
import {
  agreeingOnChannel,
  agreesOnChannel,
  carriedHello,
  carryingHello,
  channelBinding,
  fingerprintOf,
  repeatsHello,
  tellingDelay,
  toldDelayMs,
  withOffererAsDtlsClient,
  withoutOurLines,
} from './sdp.ts'

const hex = (byte: string) => Array.from({ length: 32 }, () => byte).join(':')

function sdp(lines: readonly string[]): string {
  return ['v=0', 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel', ...lines, ''].join('\r\n')
}

describe('fingerprintOf', () => {
  it('reads the 32 bytes in either case, and from every section', () => {
    const twice = sdp([`a=fingerprint:sha-256 ${hex('ab')}`, `a=fingerprint:SHA-256 ${hex('AB')}`])
    expect(fingerprintOf(twice)).toEqual(new Uint8Array(32).fill(0xab))
  })

  it.each([
    ['none', sdp([])],
    ['two different', sdp([`a=fingerprint:sha-256 ${hex('AB')}`, `a=fingerprint:sha-256 ${hex('AC')}`])],
    ['a weaker hash beside it', sdp([`a=fingerprint:sha-256 ${hex('AB')}`, 'a=fingerprint:sha-1 AB'])],
    ['a short one', sdp([`a=fingerprint:sha-256 ${hex('AB').slice(3)}`])],
    ['no data channel', `v=0\r\nm=audio 9\r\na=fingerprint:sha-256 ${hex('AB')}\r\n`],
    ['two sections', sdp(['m=audio 9', `a=fingerprint:sha-256 ${hex('AB')}`])],
    ['a length above the limit', sdp([`a=fingerprint:sha-256 ${hex('AB')}`, 'x'.repeat(20_000)])],
  ])('refuses %s', (_, text) => {
    expect(() => fingerprintOf(text)).toThrow(expect.objectContaining({ code: 'PROTOCOL_VIOLATION' }))
  })
})

describe('channelBinding', () => {
  const low = sdp([`a=fingerprint:sha-256 ${hex('0A')}`])
  const high = sdp([`a=fingerprint:sha-256 ${hex('F0')}`])

  it('is the same from both sides, and another for another certificate', () => {
    expect(channelBinding(low, high)).toEqual(channelBinding(high, low))
    expect(channelBinding(low, high)).toHaveLength(64)
    expect(channelBinding(low, low)).not.toEqual(channelBinding(low, high))
  })
})

describe('agreeingOnChannel', () => {
  it.each(['a=mid:0\r\n', 'a=mid:0\n', 'a=mid:0'])('adds a line that is found again, behind %j', (text) => {
    expect(agreesOnChannel(text)).toBe(false)
    expect(agreeingOnChannel(text)).toBe('a=mid:0\r\na=runnel-channel:agreed\r\n')
    expect(agreesOnChannel(agreeingOnChannel(text))).toBe(true)
  })

  it('is found as a whole line only', () => {
    for (const text of ['a=runnel-channel:agreed-not', 'a=mid:a=runnel-channel:agreed'])
      expect(agreesOnChannel(`${text}\r\n`)).toBe(false)
  })
})

describe('tellingDelay', () => {
  it('adds a line that is found again, in whole milliseconds', () => {
    expect(tellingDelay('a=mid:0', 49.2)).toBe('a=mid:0\r\na=runnel-signal-delay:50\r\n')
    expect(toldDelayMs(agreeingOnChannel(tellingDelay('a=mid:0\n', 49.2)))).toBe(50)
  })

  it('adds nothing where it is not known', () => {
    expect(tellingDelay('a=mid:0\n', undefined)).toBe('a=mid:0\n')
    expect(toldDelayMs('a=mid:0\n')).toBeUndefined()
  })

  it.each(['12345', '-1', '1.5', '5 ', ''])('says nothing with %j', (said) => {
    expect(toldDelayMs(`a=mid:0\r\na=runnel-signal-delay:${said}\r\n`)).toBeUndefined()
  })
})

describe('lines of ours', () => {
  const [own, others] = [Uint8Array.of(1, 2), Uint8Array.of(3, 4)]
  const ours = (hello: Uint8Array, delayMs: number) =>
    agreeingOnChannel(carryingHello(tellingDelay('a=mid:0\r\n', delayMs), hello))
  const read = (text: string) => [carriedHello(text), toldDelayMs(text), agreesOnChannel(text)]

  it('are read in any order, and in any place', () => {
    const lines = ours(others, 5).trimEnd().split('\r\n')
    for (const order of [lines, lines.toReversed(), [...lines.slice(2), ...lines.slice(0, 2)]])
      for (const end of ['\r\n', '\n', '\r\na=x\r\n'])
        expect(read(order.join(end))).toEqual([others, 5, true])
  })

  it('count as the last of a name says, which its sender has added behind what its library repeated', () => {
    const repeated = ours(own, 70).trimEnd().split('\r\n').toReversed().join('\r\n')
    const text = ours(others, 5).replace('a=mid:0', `a=mid:0\r\n${repeated}`)
    expect(read(text)).toEqual([others, 5, true])
    expect([repeatsHello(text, own), repeatsHello(`${repeated}\r\n`, own)]).toEqual([false, true])
  })

  it('say nothing where the last of a name is not as it must be, whatever is before it', () => {
    const damaged = ['channel:no', 'signal-delay:x', 'hello:='].map((line) => `a=runnel-${line}\r\n`).join('')
    expect(read(ours(others, 5) + damaged)).toEqual([undefined, undefined, false])
  })
})

describe('withOffererAsDtlsClient', () => {
  it('decides what the offer leaves open, and nothing else', () => {
    expect(withOffererAsDtlsClient('a=setup:actpass\r\na=mid:0\r\n')).toBe('a=setup:active\r\na=mid:0\r\n')
    expect(withOffererAsDtlsClient('a=setup:actpass\na=mid:0\n')).toBe('a=setup:active\na=mid:0\n')
    expect(withOffererAsDtlsClient('a=setup:passive\r\n')).toBe('a=setup:passive\r\n')
    expect(withOffererAsDtlsClient('a=mid:a=setup:actpass\r\n')).toBe('a=mid:a=setup:actpass\r\n')
  })
})

describe('carryingHello', () => {
  const hello = Uint8Array.of(1, 2, 251, 255)
  const text = carryingHello('a=mid:0\r\n', hello)

  it('adds a line from which the hello is read', () => {
    expect(text).toBe('a=mid:0\r\na=runnel-hello:AQL7_w\r\n')
    expect(carriedHello(text)).toEqual(hello)
    expect([repeatsHello(text, hello), repeatsHello(text, hello.subarray(1))]).toEqual([true, false])
  })

  it.each([
    'a=mid:0\r\n',
    'a=runnel-hello:\r\n',
    'a=runnel-hello:A\r\n',
    'a=runnel-hello:AQ==\r\n',
    'x=a=runnel-hello:AQ',
  ])('reads none from %j', (other) => expect(carriedHello(other)).toBeUndefined())

  it('is taken out with all lines of ours', () => {
    expect(withoutOurLines(agreeingOnChannel(tellingDelay(text, 5)) + 'a=mid:1\r\n')).toBe(
      'a=mid:0\r\na=mid:1\r\n',
    )
  })
})
