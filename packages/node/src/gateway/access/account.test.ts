import { toNodeId, toStreamId, type StreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { Account } from './account.ts'
import type { KeyEntry } from './keys-file.ts'

const userId = toNodeId(`0x${'a'.repeat(40)}`)
const other = `0x${'b'.repeat(40)}`
const id = (text: string): StreamId => toStreamId(text.startsWith('/') ? userId + text : text)

function open(entry: Partial<KeyEntry> = {}) {
  const clock = new VirtualClock()
  const whole = {
    ...{ name: 'a', publish: [], subscribe: [], maxConnections: 2 },
    ...{ maxMessagesPerS: 4, maxBytesPerS: 1_000, maxMessageBytes: 4_000 },
    ...entry,
  }
  const clients = { acquire: () => Promise.reject(new Error('no network here')) }
  return { clock, account: new Account(whole, { userId, clients, clock }) }
}

describe('an account of a gateway', () => {
  it('publishes and reads what its patterns say, and nothing else', () => {
    const { account } = open({ publish: ['/sensors/#'], subscribe: [`${other}/news`] })
    expect(account.mayPublish(id('/sensors/kitchen'))).toBe(true)
    expect(account.mayPublish(id(`${other}/sensors/kitchen`))).toBe(false)
    expect(account.maySubscribe(id(`${other}/news`))).toBe(true)
    expect(account.maySubscribe(id('/sensors/kitchen'))).toBe(false)
  })

  it('takes so many messages a second, and says how long to wait', () => {
    const { account, clock } = open()
    expect(Array.from({ length: 5 }, () => account.takeRate(1))).toEqual([0, 0, 0, 0, 250])
    clock.advanceBy(125)
    expect(account.takeRate(1)).toBe(125)
    clock.advanceBy(125)
    expect(account.takeRate(1)).toBe(0)
  })

  it('takes so many bytes a second, the largest message too', () => {
    const { account, clock } = open()
    expect(account.takeRate(4_000)).toBe(0)
    expect(account.takeRate(500)).toBe(500)
    clock.advanceBy(500)
    expect(account.takeRate(500)).toBe(0)
  })

  it('takes many messages at once or none of them, and never more than a burst', () => {
    const { account, clock } = open()
    expect(account.burst).toEqual({ messages: 4, bytes: 4_000 })
    expect(account.takeRate(10, 3)).toBe(0)
    expect(account.takeRate(10, 3)).toBe(500)
    expect(account.takeRate(10, 1)).toBe(0)
    clock.advanceBy(1_000)
    expect(account.takeRate(10, 100)).toBe(0)
    expect(account.takeRate(10, 1)).toBe(250)
  })

  it('counts connections in and out, each once', () => {
    const { account } = open()
    const leave = account.connect()
    account.connect()
    expect(account.connect()).toBeUndefined()
    leave?.()
    leave?.()
    expect(account.connections).toBe(1)
  })
})
