import {
  limits as wireLimits,
  type Contact,
  type NodeId,
  type Signal,
  type SignalKind,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Replica } from './replica.ts'
import {
  codes,
  findStorage,
  nodeId,
  partA,
  partB,
  statusOf,
  storing,
  TrackerStory,
  webrtcContact,
} from './tracker-core.testkit.ts'
import type { TrackerEffect } from './tracker-core.ts'

const [n1, n2, n3] = [nodeId(1), nodeId(2), nodeId(3)]
const joiner = nodeId(9)

const websocket = { kind: 'websocket', text: 'ws://h:1' }
const webrtc = { kind: 'webrtc', text: '' }
const server: Contact = { addresses: [websocket, webrtc], dials: ['websocket', 'webrtc'] }

/** A story in which these nodes are in a stream part, and the joiner is connected. */
function storyOf(
  others: readonly NodeId[] = [n1],
  { contact = webrtcContact, limits = {}, degree = 4 } = {},
): TrackerStory {
  const story = new TrackerStory({ limits, degree })
  for (const id of others) {
    story.connect(id, contact)
    story.packet(id, statusOf(partA))
  }
  story.advance(1_000)
  story.connect(joiner)
  return story
}

const open = (kind: SignalKind, sessionId = 7, payload = `${kind} ${sessionId}`): Signal => ({
  type: 'signal',
  peerId: joiner,
  ...{ sessionId, kind, payload },
})

function leave(story: TrackerStory, ...signals: Signal[]): TrackerEffect[] {
  return signals.flatMap((signal) => story.packet(joiner, signal))
}

const join = (story: TrackerStory, part = partA) => story.packet(joiner, statusOf(part))

const nameOf = (id: NodeId) => String(Number(BigInt(id)))

/** What each node is sent, in order: signals by their senders and payloads. */
function sent(effects: readonly TrackerEffect[]): string[] {
  return effects.flatMap((effect) => {
    if (effect.type !== 'send') return []
    const { to, packet } = effect
    if (packet.type === 'signal') return [`${nameOf(to)}: ${packet.payload} of ${nameOf(packet.peerId)}`]
    if (packet.type === 'offerTaken')
      return [`${nameOf(to)}: ${packet.sessionId} taken by ${nameOf(packet.peerId)}`]
    if (packet.type !== 'instruction') return []
    return [`${nameOf(to)}: neighbours ${packet.neighbours.map(({ nodeId }) => nameOf(nodeId)).join(' ')}`]
  })
}

const plain = ['1: neighbours 9', '9: neighbours 1']

describe('an open offer', () => {
  it('goes to the new neighbour with its candidates, before either is told of the other', () => {
    const story = storyOf()
    expect(leave(story, open('offer'), open('candidate', 7, 'a'), open('candidate', 7, 'b'))).toEqual([])
    const effects = sent(join(story))
    expect(effects.slice(0, 4)).toEqual(['1: offer 7 of 9', '1: a of 9', '1: b of 9', '9: 7 taken by 1'])
    expect(effects.slice(4).sort()).toEqual(plain)
    const { counters } = story.core
    expect([counters.get('openOffersLeft'), counters.get('openOffersTaken')]).toEqual([1, 1])
    expect([counters.get('openOffersDropped'), counters.get('signalsRelayed')]).toEqual([0, 3])
  })

  it('goes to one neighbour, with which the node exchanges signals as with others', () => {
    const story = storyOf([n1, n2, n3])
    leave(story, open('offer'))
    const effects = sent(join(story))
    const taker = [n1, n2, n3].find((id) => effects.includes(`${nameOf(id)}: offer 7 of 9`)) ?? n1
    expect(effects.filter((line) => line.includes('offer'))).toHaveLength(1)
    const packetsOf = (id: NodeId) => effects.filter((line) => line.startsWith(`${nameOf(id)}:`))
    expect(packetsOf(taker)).toHaveLength(2)
    expect(packetsOf(taker)[0]).toContain('offer 7')
    expect(packetsOf(joiner)).toEqual([
      `9: 7 taken by ${nameOf(taker)}`,
      expect.stringContaining('neighbours'),
    ])
    const answer: Signal = { type: 'signal', peerId: joiner, sessionId: 7, kind: 'answer', payload: '' }
    const answered = { type: 'send', to: joiner, packet: { ...answer, peerId: taker } }
    expect(story.packet(taker, answer)).toEqual([answered])
  })

  it('waits for the instructions, where these are held back after others', () => {
    const story = storyOf()
    story.join(n2)
    leave(story, open('offer'))
    expect(sent(join(story))).toEqual([])
    const effects = sent(story.advance(50))
    expect(effects.filter((line) => line.includes('taken'))).toHaveLength(1)
    expect(effects[0]).toMatch(/offer 7 of 9$/)
  })

  it('does not go to a neighbour whose own offer the node has', () => {
    const story = storyOf([])
    story.connect(n1)
    for (const id of [joiner, n1]) story.packet(id, { ...open('offer'), peerId: id })
    join(story)
    story.packet(n1, statusOf(partA))
    story.advance(1_000)
    const { counters, nodes } = story.core
    expect(counters.get('openOffersTaken')).toBe(1)
    expect([joiner, n1].map((id) => nodes.get(id)?.openOffer?.takenBy)).toContain(undefined)
  })

  it('passes by a neighbour that can be dialled, and goes to the next', () => {
    const story = storyOf([n1, n2, n3], { contact: server })
    story.connect(nodeId(4))
    story.packet(nodeId(4), statusOf(partA))
    story.advance(1_000)
    leave(story, open('offer'))
    const effects = sent(join(story))
    expect(effects.filter((line) => line.includes('offer') || line.includes('taken'))).toEqual([
      '4: offer 7 of 9',
      '9: 7 taken by 4',
    ])
  })

  it.each<[string, Contact]>([
    ['can be dialled', server],
    ['dials the node', { addresses: [], dials: ['tcp'] }],
    ['knows no WebRTC', { addresses: [websocket], dials: ['websocket'] }],
    [
      'is reached over circuits alone',
      { addresses: [{ kind: 'circuit', text: 'wss://h:1' }], dials: ['circuit'] },
    ],
    [
      'has another way in common, of a later version',
      { addresses: [webrtc, { kind: 'x', text: '' }], dials: ['webrtc', 'x'] },
    ],
  ])('does not go to a neighbour that %s', (_, contact) => {
    const story = storyOf([n1], { contact })
    story.packet(joiner, {
      type: 'nodeInfo',
      contact: {
        addresses: [webrtc, { kind: 'tcp', text: 'tcp://h:1' }],
        dials: ['websocket', 'webrtc', 'circuit', 'x'],
      },
    })
    leave(story, open('offer'))
    expect(sent(join(story)).sort()).toEqual(plain)
  })

  it('goes to a neighbour that is also reached over a circuit', () => {
    const circuit = { kind: 'circuit', text: 'wss://h:1' }
    const contact = { addresses: [webrtc, circuit], dials: ['websocket', 'webrtc', 'circuit'] }
    const story = storyOf([n1], { contact })
    story.packet(joiner, { type: 'nodeInfo', contact })
    leave(story, open('offer'))
    expect(sent(join(story))).toContain('1: offer 7 of 9')
  })

  it('does not go to a neighbour that is not connected', () => {
    const story = storyOf()
    story.disconnect(n1)
    leave(story, open('offer'))
    expect(sent(join(story))).toEqual(['9: neighbours 1'])
  })

  it('does not go to a neighbour whose connection is being closed', () => {
    const story = storyOf([n1], { limits: { statusBurst: 3, statusesPerSecond: 0 } })
    while (codes(story.packet(n1, statusOf(partA))).length === 0);
    leave(story, open('offer'))
    expect(sent(join(story)).sort()).toEqual(plain)
  })

  it('does not go to a neighbour of another stream part', () => {
    const story = storyOf()
    join(story)
    story.packet(n1, statusOf(partB))
    story.advance(1_000)
    leave(story, open('offer'))
    expect(sent(join(story, partB)).sort()).toEqual(plain)
  })

  it('does not go to a host of the node, to which it publishes', () => {
    const story = storyOf()
    const membership = { reads: false, token: undefined }
    expect(sent(story.packet(joiner, { ...statusOf(partA), membership }))).toEqual(['9: neighbours 1'])
    // Signals pass from it to its host only for a while.
    story.advance(60_000)
    story.packet(n1, statusOf(partB))
    story.advance(1_000)
    leave(story, open('offer'))
    expect(sent(join(story, partB)).sort()).toEqual(plain)
  })

  it('does not go to a storage node that the node was told', () => {
    const story = storyOf()
    story.packet(n1, storing(partA))
    story.packet(joiner, findStorage())
    leave(story, open('offer'))
    expect(sent(join(story)).sort()).toEqual(plain)
  })

  it('does not go to a neighbour of a while ago, with which the node may still be linked', () => {
    const story = storyOf()
    join(story)
    story.packet(joiner, { type: 'leave', streamPartId: partA })
    story.advance(10_000)
    leave(story, open('offer'))
    expect(sent(join(story)).sort()).toEqual(plain)
  })

  it('does not go to a neighbour that the node was told before', () => {
    const story = storyOf()
    join(story)
    leave(story, open('offer'))
    story.packet(n1, { type: 'nodeInfo', contact: { ...webrtcContact, dials: ['webrtc'] } })
    expect(sent(story.advance(1_000))).toEqual(['9: neighbours 1'])
  })
})

describe('an open offer in an overlay that is taken over', () => {
  it('does not go to a neighbour that the node has already, as one of them says', () => {
    const story = new TrackerStory()
    const transport = 2
    story.connect(n1)
    story.connect(joiner)
    leave(story, open('offer'))
    const neighboursOf = (id: NodeId) => [{ nodeId: id, rttMs: undefined, transport }]
    story.packet(n1, { ...statusOf(partA, 3), neighbours: neighboursOf(joiner) })
    const effects = sent(story.packet(joiner, { ...statusOf(partA, 3), neighbours: neighboursOf(n1) }))
    expect(effects.sort()).toEqual(plain)
  })

  it('does not go to a neighbour that has not reported yet, nor when it does', () => {
    const story = storyOf([])
    const ids = [n1, n2, n3]
    const nodes = ids.map((id) => ({ nodeId: id, contact: webrtcContact, neighbours: ids }))
    story.core.replicaOf = () => new Replica(nodes)
    story.connect(n1)
    leave(story, open('offer'))
    expect(sent(join(story))).toEqual(['9: neighbours 1 2 3'])
    story.packet(n1, statusOf(partA, 3, [n2, n3]))
    expect(sent(story.advance(1_000))).toEqual(['1: neighbours 2 3 9'])
  })
})

describe('an open offer that nobody has', () => {
  it('is forgotten after a while', () => {
    const story = storyOf([])
    leave(story, open('offer'))
    join(story)
    story.advance(4_999)
    expect(sent(story.join(n1))).toContain('1: offer 7 of 9')
    const late = storyOf([])
    leave(late, open('offer'))
    join(late)
    late.advance(5_000)
    expect(sent(late.join(n1)).sort()).toEqual(plain)
    expect(late.core.counters.get('openOffersDropped')).toBe(1)
  })

  it('can be withdrawn, by its session', () => {
    const story = storyOf()
    leave(story, open('offer'), open('reject', 8))
    expect(story.core.counters.get('openSignalsIgnored')).toBe(1)
    leave(story, open('reject'))
    expect(sent(join(story)).sort()).toEqual(plain)
    expect(story.core.counters.get('openOffersDropped')).toBe(1)
  })

  it('is replaced by the next, with its candidates', () => {
    const story = storyOf()
    leave(
      story,
      open('offer'),
      open('candidate'),
      open('offer', 8),
      open('candidate', 7),
      open('candidate', 8),
    )
    const effects = sent(join(story))
    expect(effects.slice(0, 3)).toEqual(['1: offer 8 of 9', '1: candidate 8 of 9', '9: 8 taken by 1'])
    const { counters } = story.core
    expect([counters.get('openOffersDropped'), counters.get('openSignalsIgnored')]).toEqual([1, 1])
  })

  it('is forgotten when the node disconnects', () => {
    const story = storyOf([])
    join(story)
    leave(story, open('offer'))
    story.disconnect(joiner)
    expect(story.core.counters.get('openOffersDropped')).toBe(1)
    story.connect(joiner)
    join(story)
    expect(sent(story.join(n1)).sort()).toEqual([])
    expect(sent(story.advance(1_000)).sort()).toEqual(plain)
    expect(story.core.dueMs).toBeGreaterThan(story.now)
  })

  it('is forgotten when a newer connection of the node takes the place of the one', () => {
    const story = storyOf()
    leave(story, open('offer'))
    story.connect(joiner)
    expect(sent(join(story)).sort()).toEqual(plain)
  })

  it('gives way to newer ones of others, where there are too many', () => {
    const story = storyOf([], { limits: { maxOpenOffers: 2 } })
    leave(story, open('offer'))
    for (const id of [n1, n2]) {
      story.connect(id)
      story.packet(id, { ...open('offer'), peerId: id })
    }
    expect(story.core.counters.get('openOffersDropped')).toBe(1)
    const left = [joiner, n1, n2].filter((id) => story.core.nodes.get(id)?.openOffer !== undefined)
    expect(left).toEqual([n1, n2])
  })

  it('has a few candidates, and is with them no larger than one signal may be', () => {
    const story = storyOf([n1], { limits: { maxOpenCandidates: 2 } })
    const large = 'x'.repeat(wireLimits.maxSignalBytes - 20)
    leave(story, open('offer'), open('candidate', 7, large), open('candidate', 7, large))
    leave(story, open('candidate', 7, 'b'), open('candidate', 7, 'c'))
    const effects = sent(join(story))
    expect(effects.slice(0, 4)).toEqual([
      '1: offer 7 of 9',
      `1: ${large} of 9`,
      '1: b of 9',
      '9: 7 taken by 1',
    ])
    expect(story.core.counters.get('openSignalsIgnored')).toBe(2)
  })
})

describe('signals to oneself', () => {
  it('are ignored where they belong to no open offer', () => {
    const story = storyOf()
    expect(
      leave(story, open('candidate'), open('answer'), open('reject'), open('offer'), open('answer')),
    ).toEqual([])
    expect(story.core.counters.get('openSignalsIgnored')).toBe(4)
    expect(sent(join(story))).toContain('1: offer 7 of 9')
  })

  it('pay as all signals do', () => {
    const story = storyOf([n1], { limits: { signalBurst: 2, signalsPerSecond: 0 } })
    expect(leave(story, open('offer'), open('candidate'))).toEqual([])
    expect(codes(leave(story, open('candidate')))).toEqual(['SIGNAL_RATE'])
    expect(sent(join(story)).slice(0, 3)).toEqual([
      '1: offer 7 of 9',
      '1: candidate 7 of 9',
      '9: 7 taken by 1',
    ])
  })
})

describe('an open offer that was taken', () => {
  /** A neighbour has the offer. */
  function takenStory() {
    const story = storyOf()
    leave(story, open('offer'))
    join(story)
    return story
  }

  it('goes to nobody else', () => {
    const story = takenStory()
    story.advance(100)
    expect(sent(story.join(n2)).filter((line) => /offer|taken/.test(line))).toEqual([])
  })

  it('has later candidates passed on for a while', () => {
    const story = storyOf()
    leave(story, open('offer'))
    story.advance(4_000)
    join(story)
    story.advance(4_999)
    expect(sent(leave(story, open('candidate')))).toEqual(['1: candidate 7 of 9'])
    story.advance(1)
    expect(leave(story, open('candidate'))).toEqual([])
    const { counters } = story.core
    expect([counters.get('openSignalsIgnored'), counters.get('openOffersDropped')]).toEqual([1, 0])
  })

  it('is withdrawn from who has it', () => {
    const story = takenStory()
    expect(sent(leave(story, open('reject'), open('candidate')))).toEqual(['1: reject 7 of 9'])
  })

  it('has no more candidates passed on to who is not connected', () => {
    const story = takenStory()
    story.disconnect(n1)
    expect(leave(story, open('candidate'))).toEqual([])
    expect(story.core.counters.get('openSignalsIgnored')).toBe(1)
  })
})
