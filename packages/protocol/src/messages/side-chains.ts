import { keyPartition } from '../ids/stream-id.ts'
import type { MessageChain } from './stream-message.ts'
import { isUrgentChain } from './urgent.ts'

/**
 * Chains of a stream's key part that hold no key records begin with one of these. `transient`: of use only while they are live, so that
 * nobody keeps them or looks for what is missing. `cursor`: only the newest message counts.
 */
export const sideChains = { transient: '~', cursor: '@' } as const

type ChainPlace = Pick<MessageChain, 'partition' | 'messageChainId'>

/** Whether a message is for presence, replies or cursors, and not about keys. */
export function isSideMessage(chain: ChainPlace): boolean {
  return isIn(chain, sideChains.transient) || isIn(chain, sideChains.cursor)
}

/** Whether nobody keeps the messages of a chain, as those of transient side chains and urgent ones. */
export function isTransient(chain: ChainPlace): boolean {
  return isIn(chain, sideChains.transient) || isUrgentChain(chain)
}

function isIn({ partition, messageChainId }: ChainPlace, first: string): boolean {
  return partition === keyPartition && messageChainId.startsWith(first)
}
