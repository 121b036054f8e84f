import type { NetworkNode } from '@runnel/network'
import {
  loadCrypto,
  type BuiltBatch,
  type Clock,
  type MessageDraft,
  type StreamMessage,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { describe, expect, it } from 'vitest'
import { newIdentity } from '../client.testkit.ts'
import { chain, textOf } from '../content/content.testkit.ts'
import { encodeContent } from '../content/encode.ts'
import { PartOutbox } from './part-outbox.ts'

const crypto = await loadCrypto()
const identity = newIdentity()

type Sealing = { readonly messages: readonly MessageDraft[] } & PromiseWithResolvers<readonly MessageDraft[]>

/** An outbox whose batches are sealed when told, and what it has sent. */
function setUp(clock: Clock = systemClock) {
  const sent: StreamMessage[] = []
  const sealings: Sealing[] = []
  let begun = Promise.withResolvers<void>()
  const outbox = new PartOutbox(
    { chain: { ...chain, publisherId: identity.nodeId }, ready: Promise.resolve(), maxBehindMs: 1_000 },
    {
      ...{
        user: { signer: identity, require: () => {} },
        crypto,
        clock,
        neighbourCount: () => 1,
      },
      node: {
        publish: (batch: BuiltBatch) => sent.push(...batch.messages) > 0,
      } as unknown as NetworkNode,
      steps: {
        seal: (messages) => {
          const sealing = { messages, ...Promise.withResolvers<readonly MessageDraft[]>() }
          sealings.push(sealing)
          begun.resolve()
          return sealing.promise
        },
      },
    },
  )
  const nextSealing = async (): Promise<Sealing> => {
    while (sealings.length === 0) {
      await begun.promise
      begun = Promise.withResolvers()
    }
    return sealings.shift() as Sealing
  }
  const add = (text: string) => outbox.add(encodeContent(text), {})
  return { outbox, sent, nextSealing, add }
}

describe('an outbox whose messages take time to seal', () => {
  it('sends them in order, one batch after the other', async () => {
    const { sent, nextSealing, add } = setUp()
    const first = [add('1'), add('2')]
    const sealing = await nextSealing()
    const later = add('3')
    sealing.resolve(sealing.messages)
    await Promise.all(first)
    const second = await nextSealing()
    second.resolve(second.messages)
    await later
    expect(sent.map((message) => textOf(message))).toEqual(['1', '2', '3'])
    expect(sent[2]?.previous).toEqual({
      timestamp: sent[1]?.timestamp,
      sequenceNumber: sent[1]?.sequenceNumber,
    })
  })

  it('refuses those that cannot be sealed; no later one names them, and no place is given twice', async () => {
    const { sent, nextSealing, add } = setUp()
    const places: string[] = []
    for (const text of ['1', 'refused', '3']) {
      const adding = add(text)
      const sealing = await nextSealing()
      places.push(...sealing.messages.map((one) => `${one.timestamp} ${one.sequenceNumber}`))
      if (text === 'refused') {
        sealing.reject(new Error('no key'))
        await expect(adding).rejects.toThrow('no key')
      } else {
        sealing.resolve(sealing.messages)
        await adding
      }
    }
    expect(sent.map((message) => textOf(message))).toEqual(['1', '3'])
    const { timestamp, sequenceNumber } = sent[0] ?? {}
    expect(sent[1]?.previous).toEqual({ timestamp, sequenceNumber })
    expect(new Set(places).size).toBe(3)
  })

  it('begins a new chain when the clock, which was an hour ahead, is set right: nodes would refuse the old one', async () => {
    let aheadMs = 3_600_000
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const { sent, nextSealing, add } = setUp(clock)
    const adding = [add('ahead')]
    const sealing = await nextSealing()
    adding.push(add('waits'))
    aheadMs = 0
    adding.push(add('right'))
    sealing.resolve(sealing.messages)
    const next = await nextSealing()
    next.resolve(next.messages)
    await Promise.all(adding)
    const [ahead, waits, right] = sent
    expect(sent.map((message) => textOf(message))).toEqual(['ahead', 'waits', 'right'])
    const nowMs = systemClock.now()
    expect([waits, right].every((it) => it !== undefined && it.timestamp <= nowMs)).toBe(true)
    expect([ahead?.messageChainId, waits?.messageChainId]).toEqual(['c', 'c.1'])
    expect([waits?.previous, right?.messageChainId]).toEqual([undefined, 'c.1'])
    const { timestamp, sequenceNumber } = waits ?? {}
    expect(right?.previous).toEqual({ timestamp, sequenceNumber })
  })

  it('counts them as not sent when it is closed, and does not send them later', async () => {
    const { outbox, sent, nextSealing, add } = setUp()
    const adding = add('late')
    const sealing = await nextSealing()
    const settled = outbox.settled()
    outbox.close()
    await expect(adding).rejects.toMatchObject({ code: 'CLIENT_CLOSED' })
    await settled
    sealing.resolve(sealing.messages)
    await sealing.promise
    expect(sent).toEqual([])
  })
})
