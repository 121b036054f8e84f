import type { GatewayAccount } from '../../access/account.ts'

/**
 * Under which id it is kept how far the sessions of an identity have a feed: a user may have several identities, each with its own client.
 * Neither user nor feed has a space.
 */
export function keptFeedIdOf(
  { userId, identity }: Pick<GatewayAccount, 'userId' | 'identity'>,
  feedId: string,
): string {
  return identity === '' ? `${userId} ${feedId}` : `${userId} ${identity} ${feedId}`
}

/** The same whichever identity of the user it is of. */
export function userFeedIdOf(id: string): string {
  return id.replace(/ .* /, ' ')
}
