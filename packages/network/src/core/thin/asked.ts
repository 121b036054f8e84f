import type { FloodMode, MessageChain } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { Lateness } from './lateness.ts'

/** What a neighbour asked for, of one chain. */
export interface Asked {
  readonly part: StreamPart
  readonly progress: ChainProgress
  /** The neighbour's. */
  readonly alias: number
  mode: FloodMode
  untilMs: number
  /** How long after a batch is here the neighbour says that it has it. */
  readonly lateness: Lateness
}

/** What a chain is called in packets. */
export const chainIdOf = ({ publisherId, messageChainId }: MessageChain) => ({ publisherId, messageChainId })
