import { VirtualClock } from '../memory/virtual-clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { SignalKind } from '@runnel/protocol'
import {
  negotiationPair,
  negotiationSide,
  type Alter,
  type Side,
  type SideOptions,
} from './negotiation.testkit.ts'
import type {
  DescriptionKind,
  PeerConnectionEvents,
  PeerConnectionOptions,
  PeerConnectionPort,
} from './peer-connection-port.ts'
import type { RtcChannel } from './rtc-channel.ts'
import { carriedHello, withoutOurLines } from './sdp.ts'

const sides: Side[] = []
/** As of the channels of Node. */
const lowMarkBytes = 32 * 1024

/** Both ends of an open channel. A set-up that the library fails is made again, as the transport does (see `quickFailMs`). */
async function open(alter?: Alter): Promise<[RtcChannel, RtcChannel]> {
  for (;;) {
    const [offerer, answerer] = negotiationPair(alter)
    sides.push(offerer, answerer)
    offerer.negotiation.offer()
    const results = await Promise.allSettled([offerer.channel, answerer.channel])
    const [a, b] = results.map((result) => (result.status === 'fulfilled' ? result.value : undefined))
    if (a && b) return [a, b]
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'DIAL_FAILED' })
    }
  }
}

afterEach(async () => {
  for (const side of sides.splice(0)) {
    side.negotiation.close()
    if (side.isOpen) (await side.channel).close(true)
  }
})

const agreed = 'a=runnel-channel:agreed\r\n'

/** A side whose peer connection only notes what is asked of it. */
function noted({
  maxCandidates = 4,
  signalDelayMs,
}: Pick<SideOptions, 'maxCandidates' | 'signalDelayMs'> = {}) {
  const asked: string[] = []
  const created: PeerConnectionOptions[] = []
  const port: PeerConnectionPort = {
    path: undefined,
    remoteAddress: undefined,
    offer: () => void asked.push('offer'),
    setRemote: (kind, _, agrees) => void asked.push(agrees ? `${kind}, agreed` : kind),
    addCandidate: ({ candidate }) => asked.push(candidate) > 0,
    openLane: () => void asked.push('lane'),
    close: () => void asked.push('close'),
  }
  const sent: [SignalKind, agrees: boolean][] = []
  const payloads: string[] = []
  let describe: PeerConnectionEvents['onDescription'] = () => {}
  const send = (kind: SignalKind, payload: string) => {
    payloads.push(payload)
    return sent.push([kind, payload.endsWith(agreed)]) > 0
  }
  const side = negotiationSide(send, {
    clock: new VirtualClock(),
    createPeerConnection: (options, { onDescription }) => {
      created.push(options)
      describe = onDescription
      return port
    },
    maxCandidates,
    ...(signalDelayMs !== undefined && { signalDelayMs }),
  })
  const described = (kind: DescriptionKind) => describe(kind, sdp)
  return { side, asked, created, sent, payloads, describe: described }
}

const sdp = `m=application 9 x\na=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}\n`
const candidate = (n: number) => `candidate:${n} 1 UDP 1 192.0.2.1 9 typ host`

describe('Negotiation over node-datachannel', () => {
  it('opens a channel with the same binding on both sides', async () => {
    const [a, b] = await open()
    expect(a.binding).toHaveLength(64)
    expect(a.binding).toEqual(b.binding)
  })

  it('makes the offerer the DTLS client', async () => {
    let answer = ''
    await open((kind, payload) => {
      if (kind === 'answer') answer = payload
      return [[kind, payload]]
    })
    expect(answer).toMatch(/^a=setup:passive\r?$/m)
  })

  it('opens one by a message where the offer does not agree on it, and keeps that', async () => {
    const [a, b] = await open((kind, payload) => [
      [kind, kind === 'offer' ? payload.replace(agreed, '') : payload],
    ])
    const frame = new Promise<Uint8Array>((resolve) => {
      b.events = { onFrame: resolve, onDrain() {}, onClose() {} }
    })
    a.send(Uint8Array.of(7))
    expect([...(await frame)]).toEqual([7])
  })

  it('carries the hellos of both, and none to a side whose peer carries none', async () => {
    for (const [kind, carried] of [
      ['neither', true],
      ['offer', false],
      ['answer', false],
    ] as const) {
      await open((of, payload) => [
        [of, of === kind ? payload.replace(/a=runnel-hello:.*\r\n/, '') : payload],
      ])
      const both = sides.slice(-2).map(({ hello }) => hello !== undefined)
      // Without it in the answer, only the answerer takes both for carried: what links them then fails.
      expect(both).toEqual([carried, carried || kind === 'answer'])
    }
  })

  it('opens a channel with a side of 1.0, whose library repeats lines that it does not know', async () => {
    let lines = ''
    const [a, b] = await open((kind, payload) => {
      const bare = withoutOurLines(payload)
      if (kind === 'offer') lines = payload.slice(bare.length)
      return [[kind, kind === 'answer' ? bare + lines : bare]]
    })
    const frame = new Promise<Uint8Array>((resolve) => {
      b.events = { onFrame: resolve, onDrain() {}, onClose() {} }
    })
    a.send(Uint8Array.of(7))
    expect([...(await frame)]).toEqual([7])
  })

  it('reads the own lines of a side whose library repeats those of the offer before them', async () => {
    let repeated = ''
    const said = new Map<SignalKind, Uint8Array | undefined>()
    await open((kind, payload) => {
      const bare = withoutOurLines(payload)
      const lines = payload.slice(bare.length)
      said.set(kind, carriedHello(payload))
      if (kind === 'offer') repeated = lines
      return [[kind, kind === 'answer' ? bare + repeated + lines : payload]]
    })
    const [offerer, answerer] = sides.slice(-2)
    expect([offerer?.hello, answerer?.hello]).toEqual([said.get('answer'), said.get('offer')])
  })

  it('carries frames, and all of them when closed behind them', async () => {
    const [a, b] = await open()
    const lengths: number[] = []
    const closed = new Promise<void>((resolve) => {
      b.events = { onFrame: (frame) => lengths.push(frame.length), onDrain() {}, onClose: () => resolve() }
    })
    const aClosed = new Promise<void>((resolve) => (a.onGone = resolve))
    for (let i = 0; i < 64; i++) a.send(new Uint8Array(a.maxFrameBytes))
    a.close()
    await Promise.all([closed, aClosed])
    expect(lengths).toEqual(Array.from({ length: 64 }, () => 16 * 1024))
  })

  it('says when its buffer is low again', async () => {
    const [a] = await open()
    // The buffer may have been low in between already, while the test was filling it.
    const drained = new Promise<void>((resolve) => {
      a.events = {
        onFrame() {},
        onDrain: () => a.bufferedBytes <= lowMarkBytes && resolve(),
        onClose() {},
      }
    })
    for (let i = 0; i < 1024; i++) a.send(new Uint8Array(a.maxFrameBytes))
    expect(a.bufferedBytes).toBeGreaterThan(lowMarkBytes)
    await drained
  })

  it('ends with the channel when an event handler throws, and not the process', async () => {
    const [a, b] = await open()
    const closed = new Promise<string>((resolve) => {
      b.events = {
        onFrame() {
          throw new Error('thrown by the test')
        },
        onDrain() {},
        onClose: resolve,
      }
    })
    a.send(new Uint8Array(1))
    expect(await closed).toContain('thrown by the test')
  })

  it('fails on an offer that the library refuses', async () => {
    const side = negotiationSide(() => true)
    side.negotiation.accept(sdp)
    await expect(side.channel).rejects.toMatchObject({ code: 'DIAL_FAILED' })
  })
})

describe('Negotiation', () => {
  it('keeps candidates that come before the description, in order', () => {
    const { side, asked } = noted()
    side.negotiation.offer()
    side.negotiation.handle('candidate', `0\n${candidate(1)}`)
    side.negotiation.handle('candidate', `0\n${candidate(2)}`)
    side.negotiation.handle('answer', sdp)
    side.negotiation.handle('candidate', `0\n${candidate(3)}`)
    expect(asked).toEqual(['offer', 'answer', candidate(1), candidate(2), candidate(3)])
  })

  it.each([
    ['agrees on the channel with an offer that does', sdp + agreed, 'offer, agreed', true],
    ['does not where the offer does not', sdp, 'offer', false],
  ])('%s', (_, offer, told, agrees) => {
    const { side, asked, sent, describe } = noted()
    side.negotiation.accept(offer)
    describe('answer')
    expect([asked, sent]).toEqual([[told], [['answer', agrees]]])
  })

  it('offers to agree on the channel, and hears whether the other side does', () => {
    for (const answer of [sdp, sdp + agreed]) {
      const { side, asked, sent, describe } = noted()
      side.negotiation.offer()
      describe('offer')
      side.negotiation.handle('answer', answer)
      expect(sent).toEqual([['offer', true]])
      expect(asked).toEqual(['offer', answer === sdp ? 'answer' : 'answer, agreed'])
    }
  })

  it('says in the offer how long signals take, and nowhere where that is not known', () => {
    for (const [signalDelayMs, said] of [
      [49.5, true],
      [undefined, false],
    ] as const) {
      const { side, payloads, describe } = noted(signalDelayMs === undefined ? {} : { signalDelayMs })
      side.negotiation.offer()
      describe('offer')
      expect(payloads.map((payload) => payload.includes('a=runnel-signal-delay:50\r\n'))).toEqual([said])
    }
  })

  it.each([
    ['of both ends together', sdp + 'a=runnel-signal-delay:20\r\n', 50, 70],
    ['not where the offer does not say it', sdp, 50, undefined],
    ['not where this side does not know it', sdp + 'a=runnel-signal-delay:20\r\n', undefined, undefined],
  ])('tells an answering peer connection how long signals take, %s', (_, offer, own, told) => {
    const { side, created } = noted(own === undefined ? {} : { signalDelayMs: own })
    side.negotiation.accept(offer)
    expect(created.map(({ signalDelayMs }) => signalDelayMs)).toEqual([told])
  })

  it('takes a bounded number of candidates, and counts what it drops', () => {
    const { side, asked } = noted({ maxCandidates: 2 })
    side.negotiation.accept(sdp)
    for (let n = 1; n <= 5; n++) side.negotiation.handle('candidate', `0\n${candidate(n)}`)
    side.negotiation.handle('candidate', 'rubbish')
    expect(asked).toEqual(['offer', candidate(1), candidate(2)])
    expect(side.dropped).toBe(4)
  })

  it.each<[string, SignalKind, string, string]>([
    ['a reject with a code', 'reject', 'TOO_MANY_CONNECTIONS', 'TOO_MANY_CONNECTIONS'],
    ['a reject with other text', 'reject', 'constructor', 'DIAL_FAILED'],
    ['an answer without a fingerprint', 'answer', 'v=0', 'PROTOCOL_VIOLATION'],
  ])('fails on %s', async (_, kind, payload, code) => {
    const { side, asked } = noted()
    side.negotiation.offer()
    if (kind !== 'offer') side.negotiation.handle(kind, payload)
    await expect(side.channel).rejects.toMatchObject({ code })
    expect(asked).toEqual(['offer', 'close'])
  })

  it('fails on a second answer', async () => {
    const { side } = noted()
    side.negotiation.offer()
    side.negotiation.handle('answer', sdp)
    side.negotiation.handle('answer', sdp)
    await expect(side.channel).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' })
  })

  it('is silent after close', () => {
    const { side, asked } = noted()
    side.negotiation.offer()
    side.negotiation.close()
    side.negotiation.handle('answer', sdp)
    side.negotiation.close()
    expect(asked).toEqual(['offer', 'close'])
  })
})
