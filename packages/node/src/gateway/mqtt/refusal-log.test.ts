import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { RefusalLog } from './refusal-log.ts'

it('says what was refused, not too often, and how much was left out', () => {
  const lines: unknown[] = []
  const clock = new VirtualClock()
  const log = new RefusalLog({ warn: (...line: readonly unknown[]) => void lines.push(line) }, clock)
  for (let i = 0; i < 30; i++) log.add('an MQTT client', 'no such key', { address: '192.0.2.1' })
  expect(lines).toHaveLength(10)
  const fields = { address: '192.0.2.1', why: 'no such key' }
  expect(lines[0]).toEqual([fields, 'an MQTT client was refused'])
  clock.advanceBy(10_000)
  log.add('a filter', 'not allowed', { account: 'a' })
  expect(lines.at(-1)).toEqual([{ account: 'a', why: 'not allowed', leftOut: 20 }, 'a filter was refused'])
})
