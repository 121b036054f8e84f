import { isRunnelError } from '@runnel/protocol'
import { counter, gauge } from '../plugins/metrics.ts'
import type { PluginMetric } from '../plugins/plugin.ts'

/** What a gateway has done, for its status and its metrics. */
export class GatewayCounts {
  published = 0
  /** Messages that clients signed. */
  relayed = 0
  delivered = 0
  slowReaders = 0
  /** Readers without credit that were left to storage. */
  parkedReaders = 0
  readonly refused = new Map<string, number>()

  noteEnd(error: unknown): void {
    if (isRunnelError(error, 'GATEWAY_READER_SLOW')) this.slowReaders++
  }

  refuse(code: string): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1)
  }

  status(readers: number) {
    const { published, relayed, delivered, slowReaders, parkedReaders } = this
    const refused = Object.fromEntries(this.refused)
    return { readers, published, relayed, delivered, slowReaders, parkedReaders, refused }
  }

  metrics(readers: number): readonly PluginMetric[] {
    const refused = (...codes: readonly string[]) =>
      codes.reduce((sum, code) => sum + (this.refused.get(code) ?? 0), 0)
    const all = [...this.refused.values()].reduce((sum, count) => sum + count, 0)
    return [
      gauge('readers', 'Readers connected.', readers),
      counter('published_messages', 'Messages published for clients.', this.published),
      counter('relayed_messages', 'Messages passed on that clients signed.', this.relayed),
      counter('delivered_messages', 'Messages sent to readers.', this.delivered),
      counter('slow_readers', 'Readers ended because they were too slow.', this.slowReaders),
      counter(
        'parked_readers',
        'Times a reader without credit was left to storage until it grants more.',
        this.parkedReaders,
      ),
      counter('refused_requests', 'Requests refused, for whatever reason.', all),
      counter(
        'refused_keys',
        'Of them, for no key or a wrong one.',
        refused('GATEWAY_KEY_MISSING', 'GATEWAY_KEY_WRONG'),
      ),
      counter(
        'refused_streams',
        'Of them, for want of a permission.',
        refused('GATEWAY_NOT_ALLOWED', 'NO_PUBLISH_PERMISSION', 'NO_SUBSCRIBE_PERMISSION'),
      ),
      counter('refused_rates', 'Of them, for the rate of the key.', refused('GATEWAY_RATE')),
    ]
  }
}
