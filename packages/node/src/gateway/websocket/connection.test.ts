import { EventEmitter } from 'node:events'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { WebSocket } from 'ws'
import type { GatewayAccess } from '../access/access.ts'
import type { Caller } from '../callers.ts'
import { createGateway } from '../gateway.ts'
import { gatewayLimits } from '../limits.ts'
import { GatewayConnection } from './connection.ts'

it('reads a client no further that does not read what is wrong with its requests', async () => {
  const sent: (() => void)[] = []
  const socket = Object.assign(new EventEmitter(), {
    ...{ readyState: 1, OPEN: 1, bufferedAmount: 2 ** 30, isPaused: false },
    send: (_data: string, written: () => void) => sent.push(written),
    pause: () => (socket.isPaused = true),
    resume: () => (socket.isPaused = false),
  })
  const access = {
    accountOf: () => undefined,
    accountNamed: () => undefined,
    failed: () => 0,
    on: () => () => {},
  }
  const gateway = createGateway(access, new VirtualClock())
  const caller = { account: { userId: toNodeId(`0x${'a'.repeat(40)}`) } } as unknown as Caller
  new GatewayConnection(socket as unknown as WebSocket, 'runnel.json.v1', { caller, gateway }).start()
  const count = gatewayLimits.maxRequestsUnderWay
  for (let id = 0; id < count; id++) socket.emit('message', Buffer.from(`{"op":"dance","id":${id}}`), false)
  await expect.poll(() => sent.length).toBe(count)
  expect(socket.isPaused).toBe(true)
  for (const written of sent) written()
  await expect.poll(() => socket.isPaused).toBe(false)
})

it('does nothing for a client whose connection is being closed, as its key has ended', async () => {
  const asked: string[] = []
  const socket = Object.assign(new EventEmitter(), {
    ...{ readyState: 1, OPEN: 1, bufferedAmount: 0, isPaused: false },
    send: () => {},
  })
  const subscribe = (streamId: string) => {
    asked.push(streamId)
    return Promise.resolve({ unsubscribe: async () => {}, caughtUp: async () => {} })
  }
  const account = {
    userId: toNodeId(`0x${'a'.repeat(40)}`),
    maySubscribe: () => true,
    burst: {},
    takeRate: () => 0,
  }
  const caller = { account, client: { subscribe } } as unknown as Caller
  const gateway = createGateway({} as GatewayAccess, new VirtualClock())
  new GatewayConnection(socket as unknown as WebSocket, 'runnel.json.v1', { caller, gateway }).start()
  const ask = (stream: string) =>
    socket.emit('message', Buffer.from(JSON.stringify({ op: 'subscribe', id: 1, stream })), false)
  ask('/before')
  socket.readyState = 2
  ask('/after')
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  expect(asked).toEqual([`${account.userId}/before`])
})

it('answers a request to subscribe whose subscription is given up before', async () => {
  const said: { op: string; id: number }[] = []
  const socket = Object.assign(new EventEmitter(), {
    ...{ readyState: 1, OPEN: 1, bufferedAmount: 0, isPaused: false },
    send: (data: string) => said.push(JSON.parse(data) as { op: string; id: number }),
  })
  const subscribed = Promise.withResolvers<object>()
  const caller = {
    account: {
      userId: toNodeId(`0x${'a'.repeat(40)}`),
      maySubscribe: () => true,
      burst: {},
      takeRate: () => 0,
    },
    client: { subscribe: () => subscribed.promise },
  } as unknown as Caller
  const gateway = createGateway({} as GatewayAccess, new VirtualClock())
  new GatewayConnection(socket as unknown as WebSocket, 'runnel.json.v1', { caller, gateway }).start()
  const ask = (operation: object) => socket.emit('message', Buffer.from(JSON.stringify(operation)), false)
  ask({ op: 'subscribe', id: 1, stream: '/a' })
  ask({ op: 'unsubscribe', id: 2, subscription: 1 })
  subscribed.resolve({ unsubscribe: async () => {}, caughtUp: async () => {} })
  await expect.poll(() => said.map(({ op, id }) => `${op} ${id}`)).toEqual(['unsubscribed 2', 'subscribed 1'])
})
