import { toNodeId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { StatusHub, type ClientStatus } from '../status.ts'
import { watchRight } from './watch-right.ts'

const change: ClientStatus = { type: 'registry', change: { kind: 'unknown' } }
const other: ClientStatus = {
  type: 'slow-consumer',
  streamId: `${toNodeId(`0x${'1'.repeat(40)}`)}/a` as never,
  dropped: 1,
}

it('checks with each change of the registry, and where one may have been missed while it checked', async () => {
  const status = new StatusHub()
  const ending = new AbortController()
  let checks = 0
  let going = Promise.withResolvers<void>()
  const watching = watchRight(
    status,
    () => {
      checks++
      return going.promise
    },
    ending.signal,
  )
  status.emit(other)
  status.emit(change)
  await expect.poll(() => checks).toBe(1)
  status.emit(change)
  // As many as push that one out.
  for (let i = 0; i < 20_000; i++) status.emit(other)
  going.resolve()
  going = Promise.withResolvers<void>()
  await expect.poll(() => checks).toBe(2)
  going.resolve()
  ending.abort()
  await watching
  expect(checks).toBe(2)
})
