import { toNodeId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { maxQueuedStatuses, StatusHub, type ClientStatus } from './status.ts'

const trackerId = toNodeId(`0x${'1'.repeat(40)}`)
const status: ClientStatus = { type: 'tracker', trackerId, state: 'connected' }

it('gives every listener what happens from when it began to listen', async () => {
  const hub = new StatusHub()
  const first = hub.listen()
  hub.emit(status)
  const second = hub.listen()
  hub.emit({ ...status, state: 'disconnected' })
  hub.close()
  const states = async (listener: AsyncIterable<ClientStatus>) => {
    const seen: unknown[] = []
    for await (const it of listener) seen.push(it.type === 'tracker' && it.state)
    return seen
  }
  expect(await states(first)).toEqual(['connected', 'disconnected'])
  expect(await states(second)).toEqual(['disconnected'])
  expect(await states(hub.listen())).toEqual([])
})

it('tells a slow listener how many it missed, before the rest', async () => {
  const hub = new StatusHub()
  const listener = hub.listen()
  for (let i = 0; i < maxQueuedStatuses + 7; i++) hub.emit(status)
  expect(await listener.next()).toEqual({ done: false, value: { type: 'statuses-missed', count: 7 } })
  expect(await listener.next()).toEqual({ done: false, value: status })
  hub.close()
  let left = 0
  while (!(await listener.next()).done) left++
  expect(left).toBe(maxQueuedStatuses - 1)
})

it('stops listening when the loop is left', async () => {
  const hub = new StatusHub()
  const listener = hub.listen()
  hub.emit(status)
  for await (const it of listener) {
    expect(it).toEqual(status)
    break
  }
  hub.emit(status)
  expect(await listener.next()).toEqual({ done: true, value: undefined })
})
