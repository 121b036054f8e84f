import { expect, it } from 'vitest'
import { idleBench } from './idle-bench.ts'

it.each(['webrtc', 'websocket'] as const)(
  'measures nodes that do nothing, over %s',
  { timeout: 120_000 },
  async (transport) => {
    const report = await idleBench({ transport, streamParts: [1, 3], settleS: 0, seconds: 1 })
    expect(Object.keys(report.streamParts)).toEqual(['1', '3'])
    expect(report.baseline.bareLinks).toHaveProperty('percentOfCore')
  },
)
