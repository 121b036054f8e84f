import type { MessageChain } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import type { AskedMode } from './asked-table.ts'
import type { Lateness } from '../lateness.ts'

/** What a neighbour asked for, of one chain. */
export interface Asked extends AskedMode {
  readonly part: StreamPart
  readonly progress: ChainProgress
  /** How long after a batch is here the neighbour says that it has it. */
  readonly lateness: Lateness
}

/** What a chain is called in packets. */
export const chainIdOf = ({ publisherId, messageChainId }: MessageChain) => ({ publisherId, messageChainId })
