import { isSignedByKey, toStreamPartId, verifyBatch, type NodeId } from '@runnel/protocol'
import { expect, describe, it } from 'vitest'
import { networkLimits } from '../limits.ts'
import { contact, crypto, idOf, instruct, join, leave, partId, streamId } from './core.testkit.ts'
import type { NodeEffect } from './effects.ts'
import type { NodeEvent } from './events.ts'
import { NodeCore } from './node-core.ts'
import { nameOf, urlOf, wayTo } from './tracker-link/tracker-links.testkit.ts'

const time = (nowMs: number) => ({ nowMs, wallMs: 1_000_000 + nowMs })

/** A core with two trackers, and its effects as lines. */
function script(trackersFor = () => [1, 2].map((n) => ({ nodeId: idOf(n), url: urlOf(n) }))) {
  const core = new NodeCore(
    { self: idOf(99), limits: networkLimits },
    {
      trackers: { trackersFor },
      random: () => 0,
      crypto,
      verify: (batch, signerId) => verifyBatch(batch, crypto, signerId),
      verifyDelegation: (delegation) => isSignedByKey(delegation, crypto),
      actingFor: () => undefined,
      readsForMs: () => Infinity,
      verifyMembership: () => true,
      membershipToken: () => undefined,
      checkPublisher: () => 'allowed',
      rttOf: () => undefined,
      transportOf: () => 0,
      canTakeMore: () => true,
      queuedBytes: () => 0,
      canThin: () => true,
      canShorten: () => true,
      hasArchive: false,
      isHost: () => undefined,
      servesGuests: false,
      lightParts: undefined,
      networkOf: () => '',
    },
  )
  let nowMs = 0
  const run = (...events: NodeEvent[]): string[] => {
    const effects = events.flatMap((event) => [...core.handle(event, time(nowMs++))])
    const isOver = !effects.some(({ type }) => type === 'awaitTurnEnd')
    const after = isOver ? [] : core.handle({ type: 'turnEnded' }, time(nowMs++))
    return [...effects, ...after].map(lineOf).filter((line) => line !== 'awaitTurnEnd')
  }
  return { core, run }
}

const short = (id: NodeId): string => String(Number.parseInt(id.slice(-4), 16))

function lineOf(effect: NodeEffect): string {
  if (effect.type === 'sendToTracker') return `${effect.packet.type} to ${nameOf(effect.way)}`
  if (effect.type === 'fault') return `fault ${JSON.stringify(Object.keys(effect.owner))}`
  if (effect.type === 'dropped') return `dropped ${effect.counter}`
  if ('way' in effect) return `${effect.type} ${nameOf(effect.way)}`
  return 'peerId' in effect ? `${effect.type} ${short(effect.peerId)}` : effect.type
}

const opened: NodeEvent = { type: 'trackerOpened', way: wayTo(1) }
const told = (...peers: number[]): NodeEvent => {
  const event = instruct(1, ...peers)
  if (event.type !== 'instruction') throw new Error('no instruction')
  return { type: 'trackerPacket', way: wayTo(1), packet: event.instruction }
}

describe('a node core', () => {
  it('tells a tracker again that it left, if that takes it for a member', () => {
    const { run } = script(() => [{ nodeId: idOf(1), url: urlOf(1) }])
    const other = toStreamPartId(streamId, 1)
    run(join, { ...join, streamPartId: other }, opened, told())
    expect(run({ type: 'trackerClosed', way: wayTo(1), wasOpen: true }, leave)).toEqual([])
    expect(run({ type: 'networkBack' }, opened)).toEqual(['dialTracker 1', 'introduce 1', 'status to 1'])
    expect(run(told(2))).toEqual(['dropped tracker.unexpected', 'leave to 1'])
  })

  it('joins at a tracker, and connects to whom it is told', () => {
    const { core, run } = script()
    expect(run(join)).toEqual(['dialTracker 1'])
    expect(run(opened)).toEqual(['introduce 1', 'status to 1'])
    expect(run(told(7, 8))).toEqual(['connect 7', 'connect 8'])
    expect(core.signalRoute(idOf(7))).toBe(idOf(1))
    expect(core.trackerOf(partId)).toBe(idOf(1))
    expect(run(leave)).toContain('leave to 1')
  })

  it('lets a peer have its attach behind its proof only where the tracker of the stream part carried the last signal', () => {
    const { core, run } = script()
    const signalBy = (tracker: number): NodeEvent => ({
      type: 'trackerPacket',
      way: wayTo(tracker),
      packet: { type: 'signal', peerId: idOf(7), sessionId: 1, kind: 'answer', payload: '' },
    })
    run(join, opened, told(7))
    expect(core.firstAttach(idOf(7), 100)).toBeUndefined()
    run(signalBy(1))
    expect(core.firstAttach(idOf(7), 100)).toMatchObject({ type: 'attach', streamPartId: partId, heads: [] })
    // Another tracker, which knows nothing of this stream part, answers in the peer's name.
    run(signalBy(2))
    expect(core.firstAttach(idOf(7), 100)).toBeUndefined()
  })

  it('dials a peer anew that is found in another way meanwhile, and says so when it is itself', () => {
    const { run } = script()
    run(join, opened)
    expect(run(told(7))).toEqual(['connect 7'])
    const again = instruct(2, 7)
    if (again.type !== 'instruction') throw new Error('no instruction')
    const addresses = [{ kind: 'circuit', text: 'wss://carrier.example' }]
    const neighbours = again.instruction.neighbours.map((one) => ({
      ...one,
      contact: { ...contact, addresses },
    }))
    const packet = { ...again.instruction, neighbours }
    expect(run({ type: 'trackerPacket', way: wayTo(1), packet })).toEqual(['connect 7'])
    expect(run({ type: 'contactChanged' })).toEqual(['introduce 1'])
  })

  it('tells many changes of one turn with one status', () => {
    const { core, run } = script()
    run(join, opened)
    const events: NodeEvent[] = [{ type: 'tokenRenewed' }, { type: 'tokenRenewed' }]
    const effects = events.flatMap((event) => [...core.handle(event, time(50))])
    expect(effects.map(lineOf)).toEqual(['awaitTurnEnd'])
    expect(run({ type: 'turnEnded' })).toEqual(['status to 1'])
  })

  it('offers storage after the status that makes it a member, and again to the next tracker', () => {
    const { run } = script()
    run(join, { type: 'offerStorage', streamPartId: partId, storing: true })
    expect(run(opened)).toEqual(['introduce 1', 'status to 1', 'storing to 1'])
    expect(run({ type: 'tokenRenewed' })).toEqual(['status to 1'])
    run({ type: 'trackerClosed', way: wayTo(1), wasOpen: true })
    expect(run({ type: 'trackerOpened', way: wayTo(2) })).toEqual([
      'introduce 2',
      'status to 2',
      'storing to 2',
    ])
  })

  it('asks who stores a stream part, follows a redirect, and hears of no answer but that of whom it asked', () => {
    const { run } = script()
    const question: NodeEvent = { type: 'findStorage', requestId: 5, streamPartId: partId }
    const nodes = [{ nodeId: idOf(7), contact }]
    const answerOf = (...way: Parameters<typeof wayTo>): NodeEvent => {
      const packet = { type: 'storageNodes', requestId: 5, streamPartId: partId, nodes } as const
      return { type: 'trackerPacket', way: wayTo(...way), packet }
    }
    run(question, { type: 'trackerClosed', way: wayTo(1), wasOpen: false })
    expect(run({ type: 'trackerOpened', way: wayTo(2) })).toEqual(['introduce 2', 'findStorage to 2'])
    const packet = { type: 'redirect', streamPartId: partId, leaderId: idOf(1) } as const
    expect(run({ type: 'trackerPacket', way: wayTo(2), packet })).toEqual(['dialTracker 1/2'])
    expect(run({ type: 'trackerOpened', way: wayTo(1, 2) })).toEqual(['introduce 1/2', 'findStorage to 1/2'])
    expect(run(answerOf(2))).toEqual(['dropped tracker.unexpected'])
    expect(run(answerOf(1, 2))).toEqual(['storageFound'])
    run({ type: 'storageSearchEnded', requestId: 5 })
    expect(run(answerOf(1, 2))).toEqual(['dropped tracker.unexpected'])
  })

  it('makes a fault of what is thrown, and leaves the tracker of the stream part', () => {
    let isBroken = false
    const { run } = script(() => {
      if (isBroken) throw new Error('no directory')
      return [{ nodeId: idOf(1), url: urlOf(1) }]
    })
    run(join, opened)
    isBroken = true
    expect(run({ type: 'directoryChanged' })).toEqual(['fault ["streamPartId"]'])
    isBroken = false
    expect(run({ type: 'directoryChanged' })).toEqual([])
  })
})
