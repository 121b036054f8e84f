import type { RunnelClient } from '@runnel/client'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { IdentityClients } from './identity-clients.ts'

function open(failing: ReadonlySet<string> = new Set()) {
  const clock = new VirtualClock()
  const closed: string[] = []
  const clients = new IdentityClients(
    { maxIdentities: 2, idleClientMs: 1_000 },
    {
      client: { own: true } as unknown as RunnelClient,
      open: async ({ as }) => {
        if (failing.has(as)) throw new Error('no')
        return { close: async () => void closed.push(as) } as unknown as RunnelClient
      },
      clock,
    },
  )
  return { clients, clock, closed, failing }
}

describe('clients of identities', () => {
  it('are as many as there may be: idle ones make room, others do not', async () => {
    const { clients, closed } = open()
    const a = await clients.acquire({ as: 'a' })
    const b = await clients.acquire({ as: 'b' })
    await expect(clients.acquire({ as: 'c' })).rejects.toMatchObject({ code: 'GATEWAY_TOO_MANY_IDENTITIES' })
    // The broker's own is none of them.
    await clients.acquire({})
    a.release()
    await clients.acquire({ as: 'c' })
    expect(closed).toEqual(['a'])
    expect(clients.size).toBe(2)
    b.release()
  })

  it('that could not be opened are tried again', async () => {
    const failing = new Set(['a'])
    const { clients } = open(failing)
    await expect(clients.acquire({ as: 'a' })).rejects.toThrow('no')
    failing.clear()
    expect((await clients.acquire({ as: 'a' })).client).toBeDefined()
    expect(clients.size).toBe(1)
  })

  it('are released once, and stay open while somebody uses them', async () => {
    const { clients, clock, closed } = open()
    const [first, second] = [await clients.acquire({ as: 'a' }), await clients.acquire({ as: 'a' })]
    first.release()
    first.release()
    clock.advanceBy(1_000)
    expect(closed).toEqual([])
    second.release()
    clock.advanceBy(1_000)
    await clients.stop()
    expect(closed).toEqual(['a'])
  })

  it('leave no timer behind that the process would wait for, when they are released after the end', async () => {
    const { clients, clock, closed } = open()
    const late = await clients.acquire({ as: 'a' })
    await clients.stop()
    late.release()
    expect(clock.nextAtMs).toBeUndefined()
    expect(closed).toEqual(['a'])
  })
})
