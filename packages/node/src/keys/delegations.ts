import { writeDelegationFile } from '@runnel/client'
import {
  boundsProblem,
  checkCredential,
  createIdentity,
  decodeDelegation,
  encodeDelegation,
  isRunnelError,
  loadCrypto,
  parsePrivateKey,
  signDelegation,
  toHex,
  type Delegation,
  type DelegationClaim,
  type RunnelError,
} from '@runnel/protocol'
import { nodeError } from '../errors.ts'

/** A delegation as it is shown; times as ISO 8601. */
export interface ShownDelegation {
  readonly user: string
  readonly delegate: string
  readonly chainId: number
  readonly rights: readonly ('publish' | 'read')[]
  /** None: all streams. */
  readonly streams: readonly string[]
  readonly from: string
  readonly until: string
  readonly label: string
}

export function shownDelegation(delegation: Delegation): ShownDelegation {
  const { userId, delegateId, chainId, publishes, reads, streams, fromMs, untilMs, requester } = delegation
  return {
    ...{ user: userId, delegate: delegateId, chainId, streams, label: requester },
    rights: [...(publishes ? (['publish'] as const) : []), ...(reads ? (['read'] as const) : [])],
    from: new Date(fromMs).toISOString(),
    until: new Date(untilMs).toISOString(),
  }
}

/** Signs with the key of a user. Throws INVALID_KEY, DELEGATION_TOO_LONG or DELEGATION_TOO_BROAD. */
export async function makeDelegation(
  userKey: string,
  terms: Omit<DelegationClaim, 'userId' | 'block'>,
): Promise<Delegation> {
  const crypto = await loadCrypto()
  const user = createIdentity(parsePrivateKey(userKey), crypto)
  const claim = { ...terms, userId: user.nodeId, block: 0 }
  const problem = boundsProblem(claim)
  if (problem !== undefined) throw problem
  return signDelegation(claim, crypto, user)
}

/** A delegation as text: 0x and hexadecimal digits. */
export function delegationText(delegation: Delegation): string {
  return toHex(encodeDelegation(delegation))
}

/** Writes a delegation file. Throws DELEGATION_FILE_EXISTS or DELEGATION_FILE_UNWRITABLE. */
export function saveDelegation(path: string, privateKey: string, delegation: Delegation): void {
  writeDelegationFile(path, { privateKey: `0x${privateKey}`, delegation: delegationText(delegation) })
}

/** What a person is told of a delegation file that was written. */
export function savedLine(path: string, delegation: Delegation): string {
  const { user, delegate, until } = shownDelegation(delegation)
  return `wrote ${path}: ${delegate} acts for ${user} until ${until}`
}

/** Throws DELEGATION_INVALID. */
export function parseDelegation(text: string): Delegation {
  if (!/^0x([0-9a-fA-F]{2})+$/.test(text)) throw nodeError('DELEGATION_INVALID')
  try {
    return decodeDelegation(Buffer.from(text.slice(2), 'hex'))
  } catch (cause) {
    if (!isRunnelError(cause)) throw cause
    throw nodeError('DELEGATION_INVALID', cause.message, { cause })
  }
}

/** What keeps the holder of a key from acting under a delegation: what `checkCredential` throws. */
export async function problemOfHolder(
  delegation: Delegation,
  { privateKey, chainId, wallMs }: HolderAt,
): Promise<RunnelError | undefined> {
  const crypto = await loadCrypto()
  const { nodeId } = createIdentity(parsePrivateKey(privateKey), crypto)
  try {
    checkCredential({ delegation }, { nodeId, chainId, wallMs }, crypto)
    return undefined
  } catch (error) {
    if (isRunnelError(error)) return error
    throw error
  }
}

interface HolderAt {
  readonly privateKey: string
  /** Undefined: not looked at. */
  readonly chainId: number | undefined
  readonly wallMs: number
}
