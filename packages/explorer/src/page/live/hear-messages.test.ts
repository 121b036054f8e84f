import type { RunnelClient } from '@runnel/client/browser'
import { describe, expect, it } from 'vitest'
import { hearMessages, showStored } from './hear-messages.ts'
import { LiveLog } from './live-log.ts'

const hearing = { streamId: 's', partition: 3, log: new LiveLog(), onChange: () => {} }

describe('messages that are heard', () => {
  it('wait for none that is missing, neither to be shown nor to be read', async () => {
    const asked: unknown[] = []
    const subscribe = (_: string, options: unknown) => Promise.resolve(asked.push(options))
    const client = { subscribe, userId: 'u' } as unknown as RunnelClient
    await hearMessages(client, hearing)
    expect(asked).toEqual([
      { partitions: [3], order: 'arrival', raw: true },
      { partitions: [3], order: 'arrival' },
    ])
  })
})

describe("the page's own messages", () => {
  it('are told from others, whose delays are measured', async () => {
    const place = { messageChainId: 'c', timestamp: Date.now() - 1_000, sequenceNumber: 0, keyId: undefined }
    const subscribe = (_: string, { raw }: { raw?: boolean }, onMessage: (message: object) => void) => {
      for (const publisherId of raw ? ['own', 'other'] : []) onMessage({ ...place, publisherId })
      return Promise.resolve()
    }
    const log = new LiveLog()
    await hearMessages({ subscribe, userId: 'own' } as unknown as RunnelClient, { ...hearing, log })
    expect([log.received, log.delaysMs().length]).toEqual([2, 1])
  })
})

describe('stored messages', () => {
  it('are counted, be there none', async () => {
    async function* none() {}
    const signal = new AbortController().signal
    expect(await showStored({ resend: none }, hearing, signal)).toBe(0)
    const place = { publisherId: 'p', messageChainId: 'c', timestamp: 1, keyId: undefined, content: 'x' }
    async function* two() {
      for (const sequenceNumber of [0, 1]) yield { ...place, sequenceNumber }
    }
    const resend = two as unknown as RunnelClient['resend']
    expect(await showStored({ resend }, hearing, signal)).toBe(2)
    expect(hearing.log.messages.map(({ text }) => text)).toEqual(['x', 'x'])
  })
})
