import {
  createIdentity,
  decodeDelegation,
  delegationProblem,
  encodeDelegation,
  generatePrivateKey,
  isSignedByKey,
  loadCrypto,
  parsePrivateKey,
  toHex,
  type Crypto,
  type Delegation,
  type Random,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import { requestDelegation, type DelegationWish, type RequestModules } from './request-delegation.ts'
import type { SessionStore } from './session-store.ts'
import type { Signer } from './signer.ts'

/** A key that acts for a user, and the delegation that lets it. */
export interface Session {
  /**
   * The delegate's private key: 0x and 64 hexadecimal digits. Each process has a node key of its own, and a token of the delegate for it.
   */
  readonly delegatePrivateKey: string
  readonly delegation: Delegation
}

export interface SessionModules extends RequestModules {
  readonly random?: Random | undefined
}

/** A session that ends sooner than this is replaced by a new one. */
const renewBeforeMs = 10 * 60_000

/**
 * Returns the stored session for the signer's account and this wish; if there is none, asks the user for a new one and stores it. Others
 * that share the store wait meanwhile, so that the user is asked once. Throws the errors of `requestDelegation`.
 */
export async function openSession(
  signer: Signer,
  wish: DelegationWish,
  store: SessionStore,
  modules: SessionModules = {},
  signal?: AbortSignal,
): Promise<Session> {
  const { crypto = await loadCrypto(), clock = systemClock, random = systemRandom } = modules
  const opening = async (): Promise<Session> => {
    const name = sessionName({ ...wish, userId: await signer.address(signal) })
    const kept = parseSession(store.get(name), crypto)
    const isUsable =
      kept !== undefined && sessionName(kept.delegation) === name && isGood(kept, wish, clock.now())
    if (isUsable && (await isInForce(kept, modules.delegations))) return kept
    // Nothing of it stays where its user says no now.
    if (kept !== undefined) store.remove(name)
    const key = generatePrivateKey(random)
    const { nodeId } = createIdentity(key, crypto)
    const delegation = await requestDelegation(signer, nodeId, wish, modules, signal)
    const session = { delegatePrivateKey: toHex(key), delegation }
    store.set(name, textOf(session))
    return session
  }
  return store.exclusively('session', opening, signal)
}

/** Removes a session from the store, and the reading keys beside it: for when its user leaves or has revoked the delegation. */
export function forgetSession({ delegation }: Pick<Session, 'delegation'>, store: SessionStore): void {
  store.remove(sessionName(delegation))
}

type SessionScope = Pick<Delegation, 'chainId' | 'publishes' | 'reads' | 'streams'> & {
  readonly userId: string
}

/** Of a session in its store. */
export function sessionName({ chainId, userId, publishes, reads, streams }: SessionScope): string {
  const rights = `${publishes ? 'p' : ''}${reads ? 'r' : ''}`
  return ['session', chainId, userId, rights, ...streams.toSorted()].join(' ')
}

function isGood({ delegation }: Session, { chainId, lastsMs }: DelegationWish, wallMs: number) {
  const soonMs = wallMs + Math.min(renewBeforeMs, lastsMs / 2)
  return delegationProblem(delegation, { chainId, wallMs: soonMs }) === undefined
}

async function isInForce(
  { delegation }: Session,
  delegations: DelegationChecks | undefined,
): Promise<boolean> {
  await delegations?.resolve(delegation)
  return delegations?.check(delegation) !== 'denied'
}

const textOf = ({ delegatePrivateKey, delegation }: Session): string =>
  JSON.stringify({
    version: 1,
    privateKey: delegatePrivateKey,
    delegation: toHex(encodeDelegation(delegation)),
  })

/** Undefined for what cannot be used, as another version of the program may have written it. */
function parseSession(text: string | undefined, crypto: Crypto): Session | undefined {
  if (text === undefined) return undefined
  try {
    const { version, privateKey, delegation: hex } = JSON.parse(text) as Record<string, unknown>
    const { nodeId } = createIdentity(parsePrivateKey(String(privateKey)), crypto)
    const delegation = decodeDelegation(bytesOfHex(String(hex)) ?? new Uint8Array(0))
    const isWhole =
      version === 1 &&
      delegation.delegateId === nodeId &&
      (delegation.block > 0 || isSignedByKey(delegation, crypto))
    return isWhole ? { delegatePrivateKey: String(privateKey), delegation } : undefined
  } catch {
    return undefined
  }
}
