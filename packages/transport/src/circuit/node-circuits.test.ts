import { encodePacket } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { testModules } from '../conformance/modules.testkit.ts'
import { dial, failureCode, openLink } from '../conformance/transport-pair.testkit.ts'
import { LyingCarrier } from './lying-carrier.testkit.ts'
import {
  startCarrier,
  startNode,
  startWaiting,
  untilAddress,
  type CircuitNode,
} from './node-circuits.testkit.ts'
import { claimFrame, readWaitingFrame } from './waiting-frames.ts'

const toStop: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of toStop.splice(0).reverse()) await one.stop()
})

async function started<One extends { stop(): Promise<unknown> }>(starting: Promise<One>): Promise<One> {
  const one = await starting
  toStop.push(one)
  return one
}

function station(node: CircuitNode) {
  const transport = node.transport('circuit')
  const [url = ''] = transport.addresses
  return { nodeId: node.nodeId, transport, url }
}

const pairOf = (a: CircuitNode, b: CircuitNode) => ({
  ...{ a: station(a), b: station(b), nobody: { peerId: a.nodeId } },
  nowMs: () => systemClock.monotonicMs(),
  settle: <T>(promise: Promise<T>) => promise,
  stop: () => Promise.resolve(),
})

const dialled = (from: CircuitNode, to: CircuitNode, url = station(to).url) =>
  dial(station(from), { peerId: to.nodeId, url })

const text = 'what only the two ends may read'
const packet = encodePacket({ type: 'trackerError', code: 'X', message: text })

describe('circuits over nodes', () => {
  it('link two nodes that nobody can dial, again and again', async () => {
    const { url } = await started(startCarrier('carrier'))
    const a = await started(startWaiting('a', [url]))
    const b = await started(startWaiting('b', [url]))
    for (let i = 0; i < 3; i++) {
      const [atA, atB] = await openLink(pairOf(a, b))
      expect(atA.connection).toMatchObject({ peerId: b.nodeId, transport: 'circuit', direction: 'outbound' })
      expect(atB.connection).toMatchObject({ peerId: a.nodeId, transport: 'circuit', direction: 'inbound' })
      expect([atA.connection.send(packet), atB.connection.send(packet)]).toEqual([true, true])
      await Promise.all([atA.count(1), atB.count(1)])
      atA.connection.close('DONE', '')
      expect(await atB.closed).toMatchObject({ code: 'DONE' })
    }
  })

  it('lead to one node several times at once', async () => {
    const { url } = await started(startCarrier('carrier'))
    const target = await started(startWaiting('target', [url]))
    const diallers = await Promise.all(['a', 'b', 'c'].map((name) => started(startWaiting(name, [url]))))
    const results = await Promise.all(diallers.map((dialler) => dialled(dialler, target)))
    expect(results.map(failureCode)).toEqual([undefined, undefined, undefined])
  })

  it('carry what the carrier cannot read, and what it changes ends the link', async () => {
    const liar = await started(new LyingCarrier().start())
    const [a, b] = [await started(startWaiting('a', [])), await started(startWaiting('b', [liar.url]))]
    const [atA, atB] = await openLink(pairOf(a, b))
    atA.connection.send(packet)
    await atB.count(1)
    expect(Buffer.concat(liar.seen).includes(text)).toBe(false)
    liar.change = (frame) => Buffer.from(frame.map((byte, index) => (index === 5 ? byte ^ 1 : byte)))
    atA.connection.send(packet)
    expect(await atB.closed).toMatchObject({ code: 'NOT_AUTHENTIC' })
  })

  it('do not lead to another node than the one that was dialled', async () => {
    const liar = await started(new LyingCarrier().start())
    const [a, b] = [await started(startWaiting('a', [])), await started(startWaiting('b', [liar.url]))]
    const other = testModules('other', systemClock).identity.nodeId
    const result = await dial(station(a), { peerId: other, url: station(b).url })
    expect(failureCode(result)).toBe('PEER_ID_MISMATCH')
  })

  it('lead nowhere for a node that does not wait, which is no failure of the carrier', async () => {
    const { url } = await started(startCarrier('carrier'))
    const [a, b] = [await started(startWaiting('a', [url])), await started(startWaiting('b', [url]))]
    const absent = testModules('absent', systemClock).identity.nodeId
    for (let i = 0; i < 5; i++)
      expect(failureCode(await dial(station(a), { peerId: absent, url }))).toBe('NO_CIRCUIT')
    expect(failureCode(await dialled(a, b))).toBeUndefined()
  })

  it('have a limit in all, and for one node', async () => {
    const { url } = await started(startCarrier('carrier', { maxCircuits: 3, maxCircuitsPerPeer: 2 }))
    const [target, ...others] = await Promise.all(
      ['target', 'a', 'b', 'c', 'd'].map((name) => started(startWaiting(name, [url]))),
    )
    if (target === undefined) throw new Error('no target')
    const codes: (string | undefined)[] = []
    for (const [to, from] of [0, 1, 2].map((index) => [target, others[index]] as const))
      codes.push(from && failureCode(await dialled(from, to)))
    expect(codes).toEqual([undefined, undefined, 'NO_CIRCUIT'])
    const [a, b, c] = others
    if (!a || !b || !c) throw new Error('no others')
    expect(failureCode(await dialled(c, a))).toBeUndefined()
    // All come from one network, so the newest gives way.
    expect(failureCode(await dialled(c, b))).toBe('NO_CIRCUIT')
  })

  it('are sought at the next carrier when one stops', async () => {
    const [first, second] = [await started(startCarrier('1')), await started(startCarrier('2'))]
    const node = await started(startWaiting('node', [first.url, second.url]))
    const before = station(node).url
    await (before === first.url ? first : second).stop()
    expect(await untilAddress(node, (url) => url !== '' && url !== before)).toBe(
      before === first.url ? second.url : first.url,
    )
  })

  it('are not for whoever claims the id of another, or claims it elsewhere', async () => {
    const { url } = await started(startCarrier('carrier'))
    const victim = await started(startWaiting('victim', [url]))
    const closed = async (address: string): Promise<unknown> => {
      const socket = new WebSocket(`${url}/circuit/wait`)
      const [frame] = (await once(socket, 'message')) as [Buffer]
      expect(readWaitingFrame(frame)?.type).toBe('challenge')
      socket.send(claimFrame({ nodeId: victim.nodeId, signature: new Uint8Array(65), address }))
      return once(socket, 'close')
    }
    await closed(new URL(url).host)
    await closed('elsewhere.example:443')
    const a = await started(startWaiting('a', [url]))
    expect(failureCode(await dialled(a, victim))).toBeUndefined()
  })

  it('are carried by nobody who does not offer it', async () => {
    const plain = await started(startCarrier('plain'))
    expect(plain.transport('websocket').offers).toEqual([{ kind: 'carrier', text: plain.url }])
    const node = await started(startNode('node', { websocket: { listen: { host: '127.0.0.1', port: 0 } } }))
    expect(node.transport('websocket').offers).toEqual([])
    const [url = ''] = node.transport('websocket').addresses
    const socket = new WebSocket(`${url}/circuit/wait`)
    await expect(once(socket, 'open')).rejects.toThrow('404')
  })
})
