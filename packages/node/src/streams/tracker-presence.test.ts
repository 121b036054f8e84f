import { toNodeId, toStreamId, toStreamPartId, type StreamPartId } from '@runnel/protocol'
import { networkError } from '@runnel/network'
import { describe, expect, it } from 'vitest'
import { TrackerPresence } from './tracker-presence.ts'

const nodeId = toNodeId(`0x${'a'.repeat(40)}`)

describe('TrackerPresence', () => {
  it('asks again and again while the node is in no stream part, whatever the answer', async () => {
    let asked = 0
    let streamParts: StreamPartId[] = []
    let scheduled: (() => void) | undefined
    let turn = Promise.withResolvers<void>()
    const presence = new TrackerPresence(
      { everyMs: 7 },
      {
        network: {
          nodeId,
          get streamParts() {
            return streamParts
          },
          findStorage: async () => {
            asked++
            if (asked === 1) throw networkError('TRACKER_LOST', 'none')
            return []
          },
        },
        clock: {
          schedule: (delayMs, run) => {
            expect(delayMs).toBe(7)
            scheduled = run
            turn.resolve()
            return () => (scheduled = undefined)
          },
        },
      },
    )
    const next = async () => {
      turn = Promise.withResolvers()
      scheduled?.()
      await turn.promise
    }
    presence.start()
    presence.start()
    await turn.promise
    await next()
    expect(asked).toBe(2)
    streamParts = [toStreamPartId(toStreamId(`${nodeId}/x`), 0)]
    await next()
    expect(asked).toBe(2)
    streamParts = []
    await next()
    expect(asked).toBe(3)
    presence.stop()
    expect(scheduled).toBeUndefined()
  })
})
