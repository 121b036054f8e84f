import type { NetworkNode } from '@runnel/network'
import { reasonOf } from '../errors.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import type { Logger } from '../logger.ts'
import type { ReadingRights } from '../reading-rights.ts'
import type { StatusHub } from '../status.ts'

export interface DelegationHearers {
  readonly node: Pick<NetworkNode, 'delegations'>
  readonly rights: Pick<ReadingRights, 'lookAgain'>
  readonly logger: Logger
  readonly status: Pick<StatusHub, 'emit'>
}

/** Hears how the delegation does under which the client acts: the node sends it along with what is signed under it. */
export function hearDelegation(user: ActingUser, { node, rights, logger, status }: DelegationHearers): void {
  const taken = () => {
    if (user.delegation === undefined) return
    node.delegations.add(user.delegation)
    rights.lookAgain()
  }
  taken()
  user.onChange(taken)
  user.onNews = (news) => {
    const { error, ...said } = news
    if (news.state === 'renewed') logger.info(said, 'the delegation is renewed')
    else logger.warn({ ...said, reason: error && reasonOf(error) }, `the delegation is ${news.state}`)
    status.emit({ type: 'delegation', ...news })
  }
}
