import { EventEmitter } from 'node:events'
import { toNodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import type { WebSocket } from 'ws'
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
