import {
  digestCheck,
  urgentExtensionOf,
  type FloodMode,
  type MessageBatch,
  type UrgentFields,
} from '@runnel/protocol'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import { batchAt, control, CoreScript, idOf, identityOf, partId, startMs } from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

const chain = { publisherId: identityOf(7).nodeId, messageChainId: '!c' }
const usual: UrgentFields = { lifetimeMs: 1_000, priority: 100, group: 0, object: 0, order: 'oldest' }
export const sound: Partial<UrgentFields> = { priority: 20 }

/** A batch of one urgent message. */
export const urgentAt = (ms: number, fields: Partial<UrgentFields> = {}): MessageBatch =>
  batchAt([startMs + ms], { chainId: '!c', extensions: [urgentExtensionOf({ ...usual, ...fields })] })

export const urgent = (peer: number, batch: MessageBatch, remainingMs = 900): OverlayEvent => ({
  type: 'urgent',
  ...{ peerId: idOf(peer), batch, remainingMs },
})

/** A core with the neighbours 2, 3 and 4, and a chain with an urgent message each 20 ms. */
export function urgentScript(limits: Partial<NetworkLimits> = {}) {
  const core = new CoreScript(limits).withNeighbours(2, 3, 4)
  core.rttMs = 40
  let offsetMs = 0
  /** The next message, 20 ms later. */
  const next = (fields: Partial<UrgentFields> = {}): MessageBatch => {
    offsetMs = Math.max(offsetMs + 20, core.wallMs - startMs)
    core.pass(startMs + offsetMs - core.wallMs)
    return urgentAt(offsetMs, fields)
  }
  /** Messages that come from 2 first, then from 3 and 4, until 3 is the standby and 4 is asked for digests. Returns the asks. */
  const thin = (fields: Partial<UrgentFields> = {}): string[] => {
    const lines: string[] = []
    for (let i = 0; i < 24 && lines.length < 2; i++) {
      const batch = next(fields)
      lines.push(...core.run(urgent(2, batch), urgent(3, batch), urgent(4, batch)).filter(isAsk))
    }
    return lines
  }
  const ask = (peer: number, mode: FloodMode, alias = peer, forMs: number = networkLimits.thinLeaseMs) =>
    control(peer, { type: 'thin', streamPartId: partId, ...chain, alias, mode, forMs })
  const entryOf = (batch: MessageBatch, alias: number) => {
    const [message] = batch.messages
    if (message === undefined) throw new Error('a message')
    return { alias, timestamp: message.timestamp, sequenceNumber: message.sequenceNumber }
  }
  /** A digest of the neighbour, by the alias that this core gave the chain. */
  const digest = (
    peer: number,
    batch: MessageBatch,
    { alias = aliasOf(core), check = digestCheck(batch.bytes, idOf(1)) } = {},
  ) => control(peer, { type: 'urgentDigest', entries: [{ ...entryOf(batch, alias), check }] })
  /** By the alias that the neighbour gave the chain. */
  const pull = (peer: number, batch: MessageBatch, alias = peer) =>
    control(peer, { type: 'urgentPull', entries: [entryOf(batch, alias)] })
  return { core, next, thin, ask, digest, pull }
}

export const isAsk = (line: string): boolean => line.startsWith('thin ')
export const isPull = (line: string): boolean => line.startsWith('urgentPull ')
/** Copies sent, and to whom. */
export const copies = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith('urgent ')).map((line) => line.split(' ', 2).join(' '))

const aliasOf = ({ sent }: CoreScript): number => {
  const asked = sent.findLast(({ type }) => type === 'thin')
  return asked?.type === 'thin' ? asked.alias : 0
}
