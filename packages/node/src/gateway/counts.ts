import { isRunnelError } from '@runnel/protocol'
import type { PluginMetric } from '../plugins/plugin.ts'

/** What a gateway has done, for its status and its metrics. */
export class GatewayCounts {
  published = 0
  /** Messages that clients signed. */
  relayed = 0
  delivered = 0
  slowReaders = 0
  readonly refused = new Map<string, number>()

  noteEnd(error: unknown): void {
    if (isRunnelError(error, 'GATEWAY_READER_SLOW')) this.slowReaders++
  }

  refuse(code: string): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1)
  }

  status(readers: number) {
    const { published, relayed, delivered, slowReaders } = this
    return { readers, published, relayed, delivered, slowReaders, refused: Object.fromEntries(this.refused) }
  }

  metrics(readers: number): readonly PluginMetric[] {
    const refused = (...codes: readonly string[]) =>
      codes.reduce((sum, code) => sum + (this.refused.get(code) ?? 0), 0)
    const all = [...this.refused.values()].reduce((sum, count) => sum + count, 0)
    return [
      { type: 'gauge', name: 'readers', help: 'Readers connected.', value: readers },
      {
        type: 'counter',
        name: 'published_messages',
        help: 'Messages published for clients.',
        value: this.published,
      },
      {
        type: 'counter',
        name: 'relayed_messages',
        help: 'Messages passed on that clients signed.',
        value: this.relayed,
      },
      {
        type: 'counter',
        name: 'delivered_messages',
        help: 'Messages sent to readers.',
        value: this.delivered,
      },
      {
        type: 'counter',
        name: 'slow_readers',
        help: 'Readers ended because they were too slow.',
        value: this.slowReaders,
      },
      {
        type: 'counter',
        name: 'refused_requests',
        help: 'Requests refused, for whatever reason.',
        value: all,
      },
      {
        type: 'counter',
        name: 'refused_keys',
        help: 'Of them, for a wrong key.',
        value: refused('GATEWAY_KEY_WRONG'),
      },
      {
        type: 'counter',
        name: 'refused_streams',
        help: 'Of them, for want of a permission.',
        value: refused('GATEWAY_NOT_ALLOWED', 'NO_PUBLISH_PERMISSION', 'NO_SUBSCRIBE_PERMISSION'),
      },
      {
        type: 'counter',
        name: 'refused_rates',
        help: 'Of them, for the rate of the key.',
        value: refused('GATEWAY_RATE'),
      },
    ]
  }
}
