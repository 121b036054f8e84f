import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { Account } from './account.ts'
import { takeRate } from './rate.ts'

function open() {
  const entry = {
    ...{ name: 'a', publish: [], subscribe: [], maxConnections: 2 },
    ...{ maxMessagesPerS: 4, maxBytesPerS: 1_000, maxMessageBytes: 100 },
  }
  const clients = { acquire: () => Promise.reject(new Error('no network here')) }
  const clock = new VirtualClock()
  return new Account(entry, { userId: toNodeId(`0x${'a'.repeat(40)}`), clients, clock })
}

it('refuses at once what never passes, names the limit, and takes nothing', () => {
  const account = open()
  const tooMany = { code: 'GATEWAY_BATCH_TOO_LARGE', message: expect.stringContaining('4 (maxMessagesPerS)') }
  expect(() => takeRate(account, 0, 5)).toThrow(expect.objectContaining(tooMany))
  const tooLarge = {
    code: 'GATEWAY_BATCH_TOO_LARGE',
    message: expect.stringContaining('1000 (maxBytesPerS)'),
  }
  expect(() => takeRate(account, 1_001, 2)).toThrow(expect.objectContaining(tooLarge))
  takeRate(account, 1_000, 4)
  expect(() => takeRate(account)).toThrow(expect.objectContaining({ code: 'GATEWAY_RATE', waitMs: 250 }))
})
