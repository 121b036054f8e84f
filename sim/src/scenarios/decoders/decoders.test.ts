import { describe, expect, it } from 'vitest'
import { runDecoders } from './decoders-run.ts'

describe('mutated packets and frames', () => {
  it('are packets or coded errors', async () => {
    const { packets, refused, faults } = await runDecoders({ seed: 1, frames: 20_000 })
    expect(faults).toEqual([])
    expect(packets).toBeGreaterThan(2_000)
    expect(Object.keys(refused).sort()).toEqual(
      expect.arrayContaining(['LIMIT_EXCEEDED', 'MALFORMED_PACKET', 'UNSUPPORTED_VERSION']),
    )
  })
})
