import { toStreamId, type Cancel } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { StreamInfo } from '../registry/ports.ts'
import { Visits } from './visits.ts'

const stream = { id: toStreamId(`0x${'1'.repeat(40)}/stream`) } as StreamInfo

function visits() {
  const log: string[] = []
  const timers = new Set<() => void>()
  const schedule = (_: number, fn: () => void): Cancel => {
    timers.add(fn)
    return () => timers.delete(fn)
  }
  const join = () => {
    log.push('join')
    return () => void log.push('leave')
  }
  const modules = { parts: { join }, clock: { schedule } as never }
  return { log, timers, visits: new Visits({ lingerMs: 10 }, modules) }
}

describe('visits of stream parts', () => {
  it('are shared, and end a while after the last use', () => {
    const { log, timers, visits: all } = visits()
    const [one, two] = [all.enter(stream, 0), all.enter(stream, 0)]
    one()
    expect([log, timers.size]).toEqual([['join'], 0])
    two()
    all.enter(stream, 0)()
    expect([log, timers.size]).toEqual([['join'], 1])
    for (const fire of timers) fire()
    expect(log).toEqual(['join', 'leave'])
  })

  it('wait for nothing after the end, also where a question ends later', () => {
    const { log, timers, visits: all } = visits()
    const end = all.enter(stream, 0)
    all.close()
    end()
    expect([log, timers.size]).toEqual([['join', 'leave'], 0])
  })
})
