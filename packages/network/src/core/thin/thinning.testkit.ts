import { digestCheck, type FloodMode, type MessageBatch, type MessageRef } from '@runnel/protocol'
import {
  batchAt,
  control,
  CoreScript,
  data,
  idOf,
  identityOf,
  partId,
  startMs,
  type BatchOptions,
} from '../core.testkit.ts'
import { networkLimits, type NetworkLimits } from '../../limits.ts'

export const chain = { publisherId: identityOf(7).nodeId, messageChainId: 'c' }
const self = idOf(1)

/** A core with the neighbours 2, 3 and 4, and a chain with a batch each 100 ms. */
export function script(limits: Partial<NetworkLimits> = {}) {
  const core = new CoreScript(limits).withNeighbours(2, 3, 4)
  core.rttMs = 40
  let previous: MessageRef | undefined
  let offsetMs = 0
  /** The next batch of the chain, 100 ms later. */
  const next = (options: BatchOptions = {}): MessageBatch => {
    offsetMs = Math.max(offsetMs + 100, core.wallMs - startMs)
    core.pass(startMs + offsetMs - core.wallMs)
    const batch = batchAt([startMs + offsetMs], { previous, ...options })
    previous = { timestamp: startMs + offsetMs, sequenceNumber: 0 }
    return batch
  }
  /** Batches that come from 2 first and then from the others, until these are asked. */
  const thin = (): string[] => {
    const lines: string[] = []
    for (let i = 0; i < 12; i++) {
      const batch = next()
      lines.push(...core.run(data(2, batch), data(3, batch), data(4, batch)).filter(isAsk))
      if (lines.length > 0) break
    }
    return lines
  }
  const ask = (peer: number, mode: FloodMode, alias = peer, forMs: number = networkLimits.thinLeaseMs) =>
    control(peer, { type: 'thin', streamPartId: partId, ...chain, alias, mode, forMs })
  /** A digest of the neighbour, by the alias that this core, or the neighbour itself, gave the chain. */
  const digest = (
    peer: number,
    batch: MessageBatch,
    { alias = aliasOf(core), isSenders = false, check = digestCheck(batch.bytes, self) } = {},
  ) => {
    const { timestamp, sequenceNumber } = batch.messages.at(-1) as MessageRef
    return control(peer, {
      type: 'digest',
      entries: [{ alias, isSenders, timestamp, sequenceNumber, check }],
    })
  }
  return { core, next, thin, ask, digest }
}

export const isAsk = (line: string): boolean => line.startsWith('thin ')
export const aliasOf = ({ sent }: CoreScript): number => {
  const asked = sent.findLast(({ type }) => type === 'thin')
  return asked?.type === 'thin' ? asked.alias : 0
}
export const sends = (lines: readonly string[]): string[] =>
  lines.filter((line) => /^(data|digest|fetch|thin) /.test(line))
