import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { Closing, type ClosingModules } from './closing.ts'

/** A client whose last messages can be sent within a time, and what it was told to end, in order. */
function createClosing(isSent: boolean) {
  const clock = new VirtualClock({ startMs: 0 })
  const ended: string[] = []
  const end = (what: string) => () => void ended.push(what)
  const endLater = (what: string) => async () => void ended.push(what)
  const modules: ClosingModules = {
    gate: { close: end('gate') },
    clock,
    publisher: {
      drain: async (signal) => {
        if (isSent) return 0
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return 3
      },
      close: end('publisher'),
    },
    sides: { now: undefined },
    encryption: { finish: endLater('keys'), close: end('encryption') },
    history: { close: end('history') },
    subscriber: { close: endLater('subscriber') },
    rights: { close: end('rights') },
    user: { stop: end('user') },
    node: { stop: endLater('node') },
    verification: { stop: end('verification') },
    registry: { stop: endLater('registry') },
    status: { close: end('status') },
  }
  return { clock, ended, closing: new Closing({ timeoutMs: 1_000 }, modules) }
}

describe('a client that closes', () => {
  it('lets nobody in, sends what it has, and ends last what the rest stands on', async () => {
    const { ended, closing } = createClosing(true)
    const closed = closing.close()
    expect(ended).toEqual(['gate'])
    expect(await closed).toEqual({ unsentMessages: 0 })
    expect(ended).toEqual([
      ...['gate', 'publisher', 'keys', 'history', 'encryption', 'subscriber', 'rights', 'user'],
      ...['node', 'verification', 'registry', 'status'],
    ])
  })

  it('is closed once, whoever asks', async () => {
    const { ended, closing } = createClosing(true)
    const { closed } = closing
    expect(closing.close()).toBe(closing.close())
    expect(await closed).toEqual(await closing.close())
    expect(ended.filter((what) => what === 'node')).toHaveLength(1)
  })

  it('gives up in time what cannot be sent', async () => {
    const { clock, closing } = createClosing(false)
    const closed = closing.close()
    clock.advanceBy(1_000)
    expect(await closed).toEqual({ unsentMessages: 3 })
  })
})
