import {
  delegationDigest,
  loadCrypto,
  type Delegation,
  type DelegationClaim,
  type NodeId,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { VirtualClock } from '@runnel/transport'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../logger.ts'
import { startTestChain, type TestChain } from '../chain.testkit.ts'
import { delegationOf, nodeIdOf } from '../delegations.testkit.ts'
import { deployMultisig, jointSignature, type Multisig } from '../multisig.testkit.ts'
import type { Registries } from '../ports.ts'
import { RegistryService } from '../registry-service.ts'
import { openChainRegistries } from './chain-registries.ts'

const crypto = await loadCrypto()
let chain: TestChain
let registries: Registries
let userId: NodeId

beforeAll(async () => {
  chain = await startTestChain()
  userId = chain.accounts[1].nodeId
  registries = await open({ account: chain.accounts[1].privateKey })
})
afterAll(async () => {
  await registries.stop()
  await chain.stop()
})

function open(options: {
  account: string
  streamRegistry?: string
  pollIntervalMs?: number
  clock?: VirtualClock
}) {
  const { account, streamRegistry = chain.registries.streamRegistry, pollIntervalMs = 20, clock } = options
  return openChainRegistries(
    {
      ...{ rpcUrl: chain.url, account, pollIntervalMs },
      registries: { ...chain.registries, streamRegistry },
    },
    { clock: clock ?? systemClock },
  )
}

/** By the chain's time. */
async function newestBlockMs(): Promise<number> {
  return ((await chain.provider.getBlock('latest'))?.timestamp ?? 0) * 1000
}

describe('an account on the chain', () => {
  const revokedMs = (delegateId: NodeId, fromMs = 5) =>
    registries.delegations.revokedMs({ userId, delegateId, fromMs })

  it('ends all its delegations to a delegate', async () => {
    const [delegate, other] = [nodeIdOf(100), nodeIdOf(101)]
    expect(await revokedMs(delegate)).toBe(Infinity)
    await registries.delegations.revokeDelegate(delegate)
    expect([await revokedMs(delegate), await revokedMs(other)]).toEqual([await newestBlockMs(), Infinity])
  })

  it('ends all its delegations that began until a time', async () => {
    const [delegate, nowMs] = [nodeIdOf(102), Date.now()]
    await registries.delegations.revokeDelegations(nowMs)
    expect(await revokedMs(delegate, nowMs)).toBe(await newestBlockMs())
    expect(await revokedMs(delegate, nowMs + 1)).toBe(Infinity)
    await expect(registries.delegations.revokeDelegations(nowMs + 1e10)).rejects.toMatchObject({
      code: 'REGISTRY_REFUSED',
    })
  })

  it('ends nothing in a registry of an earlier version, and is told so', async () => {
    const { trackerRegistry } = chain.registries
    const earlier = await open({ account: chain.accounts[1].privateKey, streamRegistry: trackerRegistry })
    expect(await earlier.delegations.revokedMs(delegationOf({ userId }))).toBe(Infinity)
    const outdated = { code: 'REGISTRY_OUTDATED' }
    await expect(earlier.delegations.revokeDelegate(nodeIdOf(2))).rejects.toMatchObject(outdated)
    await expect(earlier.delegations.revokeDelegations(1)).rejects.toMatchObject(outdated)
    await earlier.stop()
  })
})

describe('a process that follows the chain', () => {
  const pollIntervalMs = 2000
  let clock: VirtualClock
  let service: RegistryService

  beforeEach(async () => {
    clock = new VirtualClock({ startMs: Date.now() })
    const options = { maxAgeMs: 3_600_000, maxCachedEntries: 100 }
    const followed = await open({ account: chain.accounts[2].privateKey, pollIntervalMs, clock })
    service = new RegistryService(options, { registries: followed, clock, logger: silentLogger })
    await service.start()
  })
  afterEach(() => service.stop())

  const changed = () => new Promise((resolve) => (service.onChange = resolve))

  it.each([
    ['revokeDelegate', nodeIdOf(200)],
    ['revokeDelegations', nodeIdOf(201)],
  ])('has all who go by a delegation look again within 5 s of %s', async (revoke, delegateId) => {
    const delegation = delegationOf({ userId, delegateId, fromMs: clock.now() })
    await service.delegations.resolve(delegation)
    expect(service.delegations.check(delegation)).toBe('allowed')
    const heard: unknown[] = []
    service.readerPolicy.onChange((streamId) => heard.push(streamId))
    const { delegations } = registries
    if (revoke === 'revokeDelegate') await delegations.revokeDelegate(delegateId)
    else await delegations.revokeDelegations(delegation.fromMs)
    const change = changed()
    const beganMs = clock.monotonicMs()
    clock.advanceBy(pollIntervalMs)
    expect(await change).toEqual({
      ...{ kind: 'delegations', userId },
      ...(revoke === 'revokeDelegate' ? { delegateId } : { begunByMs: delegation.fromMs }),
    })
    clock.advanceBy(0)
    expect(heard).toEqual([undefined])
    expect(service.delegations.check(delegation)).toBe('unknown')
    await service.delegations.resolve(delegation)
    expect(service.delegations.check(delegation)).toBe('denied')
    expect(clock.monotonicMs() - beganMs).toBeLessThan(5000)
  })

  it('counts what its own account ended at once', async () => {
    const delegation = delegationOf({ userId: chain.accounts[2].nodeId })
    await service.delegations.resolve(delegation)
    await service.delegationWriter.revokeDelegate(delegation.delegateId)
    await service.delegations.resolve(delegation)
    expect(service.delegations.check(delegation)).toBe('denied')
  })
})

describe('a contract account of two of three owners', () => {
  let account: Multisig
  let claim: DelegationClaim

  beforeEach(async () => {
    account = await deployMultisig(chain.accounts[0].wallet)
    claim = delegationOf({ userId: account.nodeId, block: account.block, streams: [] })
  })

  const signedBy = (owners: readonly Multisig['owners'][number][]): Delegation => ({
    ...claim,
    signature: jointSignature(owners, delegationDigest(claim, crypto)),
  })
  const isBacked = (delegation: Delegation, at: 'now' | 'signed' = 'now') =>
    registries.delegations.isBacked(delegation, at)
  const removeOwner = () => account.removeOwner(account.owners[0])

  it('backs what enough of its owners signed, and not what too few did, or another claim', async () => {
    const delegation = signedBy(account.owners)
    expect(await isBacked(delegation)).toBe(true)
    expect(await isBacked(signedBy(account.owners.slice(1)))).toBe(false)
    expect(await isBacked({ ...delegation, untilMs: delegation.untilMs + 1 })).toBe(false)
    expect(await isBacked({ ...delegation, userId: nodeIdOf(3) })).toBe(false)
  })

  it('is asked for its signature of anything else, at the newest block', async () => {
    const digest = new Uint8Array(32).fill(5)
    const accepts = (signature: Uint8Array, userId = account.nodeId) =>
      registries.contracts.accepts({ userId, digest, signature })
    const signature = jointSignature(account.owners, digest)
    expect(await accepts(signature)).toBe(true)
    expect(await accepts(jointSignature(account.owners.slice(1), digest))).toBe(false)
    expect(await accepts(signature, nodeIdOf(3))).toBe(false)
    await removeOwner()
    expect(await accepts(signature)).toBe(false)
  })

  it('backs no longer what an owner signed who was removed, but did when it was signed', async () => {
    const delegation = signedBy(account.owners)
    await removeOwner()
    expect([await isBacked(delegation), await isBacked(delegation, 'signed')]).toEqual([false, true])
  })

  it('is asked at the newest block where the state of that block is not to be had', async () => {
    claim = { ...claim, block: account.block + 1_000_000 }
    const delegation = signedBy(account.owners)
    expect(await isBacked(delegation, 'signed')).toBe(true)
    await removeOwner()
    expect(await isBacked(delegation, 'signed')).toBe(false)
  })

  it('ends a delegation as any account does', async () => {
    const delegation = signedBy(account.owners)
    const data = chain.streams.interface.encodeFunctionData('revokeDelegate', [delegation.delegateId])
    await account.execute(chain.streams, data)
    expect(await registries.delegations.revokedMs(delegation)).toBe(await newestBlockMs())
  })

  it('is unknown, and not refused, while the chain is away', async () => {
    const other = await startTestChain()
    const away = await openChainRegistries(
      {
        rpcUrl: other.url,
        registries: other.registries,
        account: other.accounts[0].privateKey,
        pollIntervalMs: 20,
      },
      { clock: systemClock },
    )
    await other.stop()
    const unreachable = { code: 'CHAIN_UNREACHABLE' }
    for (const at of ['now', 'signed'] as const)
      await expect(away.delegations.isBacked(signedBy(account.owners), at)).rejects.toMatchObject(unreachable)
    await expect(away.delegations.revokedMs(claim)).rejects.toMatchObject(unreachable)
    await away.stop()
  })
})
