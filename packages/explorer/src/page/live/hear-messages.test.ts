import type { RunnelClient } from '@runnel/client/browser'
import { describe, expect, it, vi } from 'vitest'
import { hearMessages } from './hear-messages.ts'
import { LiveLog } from './live-log.ts'

describe('messages that are heard', () => {
  it('wait for none that is missing, neither to be shown nor to be read', async () => {
    const subscribe = vi.fn<RunnelClient['subscribe']>()
    const hearing = { streamId: 's', partition: 3, log: new LiveLog(), onChange: () => {} }
    await hearMessages({ subscribe }, hearing)
    expect(subscribe.mock.calls.map(([, options]) => options)).toEqual([
      { partitions: [3], order: 'arrival', raw: true },
      { partitions: [3], order: 'arrival' },
    ])
  })
})
