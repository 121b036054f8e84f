import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { EventQueue } from './event-queue.ts'

describe('events that happen during a call of their owner', () => {
  it('are told at the end of the turn, in order, and those behind one that throws as well', () => {
    const clock = new VirtualClock()
    const queue = new EventQueue({ clock })
    const told: string[] = []
    queue.during(() => {
      queue.emit(() => told.push('first'))
      queue.emit(() => {
        throw new Error('a fault of the owner')
      })
      queue.emit(() => told.push('second'))
    })
    expect(told).toEqual([])
    expect(() => clock.advanceBy(1)).toThrow('a fault of the owner')
    queue.during(() => queue.emit(() => told.push('third')))
    clock.advanceBy(1)
    expect(told).toEqual(['first', 'second', 'third'])
  })
})
