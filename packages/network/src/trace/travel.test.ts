import { maxPacketBytes, readTraced } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { batchAt, startMs } from '../core/core.testkit.ts'
import { arrived, tracedPacket } from './travel.ts'

describe('how far a batch has come', () => {
  it('can be told of any age and any number of hops that a neighbour may have claimed', () => {
    const claimed = { hops: 0xffff, ageUs: Number.MAX_SAFE_INTEGER }
    const packet = tracedPacket(batchAt([startMs]), arrived(claimed, 1_000, 5), 9)
    expect(packet?.length).toBeLessThan(maxPacketBytes)
    expect(readTraced((packet ?? new Uint8Array()).subarray(1)).trace).toMatchObject(claimed)
  })
})
