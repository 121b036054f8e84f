import { createIdentity, generatePrivateKey } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { crypto } from './cluster.testkit.ts'
import { decodeRecord } from './core/record.ts'
import { defaultClusterLimits } from './limits.ts'
import { RecordWriter } from './record-writer.ts'

it('dates each record after the one before, and begins anew when the clock was set back', () => {
  const clock = new VirtualClock()
  const dates: number[] = []
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const writer = new RecordWriter(defaultClusterLimits, {
    ...{ identity, crypto, clock },
    put: () => Promise.resolve(1),
    keep: (key, value) => void dates.push(decodeRecord(key, value, crypto).writtenAt),
    count: () => {},
    fault: (_, error) => {
      throw error
    },
  })
  const write = () =>
    writer.write({ kind: 'alive', url: 'ws://127.0.0.1:1', nodes: 0, leads: 0, replicas: 0 })
  const startMs = clock.now()
  write()
  clock.moveWall(-1_000)
  write()
  clock.moveWall(-3_600_000)
  write()
  expect(dates).toEqual([startMs, startMs + 1, startMs - 3_601_000])
})
