import { readPackets, readTraced } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { batchAt, startMs } from '../core/core.testkit.ts'
import { arrived, tracedPacket } from './travel.ts'

describe('how far a batch has come', () => {
  it('can be told of any age and any number of hops that a neighbour may have claimed', () => {
    const claimed = { hops: 0xffff, ageUs: Number.MAX_SAFE_INTEGER }
    const packet = tracedPacket(batchAt([startMs]), arrived(claimed, 1_000, 5), 9)
    const [sent] = readPackets(packet ?? new Uint8Array())
    expect(readTraced(sent?.body ?? new Uint8Array()).trace).toMatchObject(claimed)
  })
})
