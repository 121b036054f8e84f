import {
  cardPublicKeyBytes,
  createIdentity,
  isCardSignedByKey,
  isSignedByKey,
  loadCrypto,
  toStreamId,
  type Crypto,
  type NodeId,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { beforeAll, describe, expect, it } from 'vitest'
import type { TestChain } from '../registry/chain.testkit.ts'
import { openChainRegistries } from '../registry/chain/chain-registries.ts'
import { requestCard } from './request-card.ts'
import { requestDelegation, type DelegationWish } from './request-delegation.ts'
import type { Signer } from './signer.ts'

/** A signer for the second account of the chain, and what can be done to it. */
export interface SignerUnderTest {
  readonly signer: Signer
}

/** One whose key is elsewhere. */
export interface DistantSignerUnderTest extends SignerUnderTest {
  /** Makes it refuse, or do what is asked, from now on. */
  readonly refuse: (refuses: boolean) => void
  /** Puts it on a chain that it cannot leave. */
  readonly moveToChain: (chainId: number) => void
  /** Makes answers wait for this. */
  readonly hold: (until: Promise<unknown>) => void
}

export interface SignerKind {
  readonly name: string
  readonly start: () => SignerUnderTest
  /** Not where the key is in this process: it is on no chain, and nobody is asked. */
  readonly distant?: {
    readonly start: () => DistantSignerUnderTest
    /** The code of its owner's refusal. */
    readonly refusal: string
  }
}

const nowMs = Date.UTC(2031, 3, 5)

/** What holds for every signer. The chain must be there before its tests run. */
export function describeSigner(kind: SignerKind, chainOf: () => TestChain): void {
  describe(kind.name, () => {
    let crypto: Crypto
    let delegateId: NodeId
    let userId: NodeId
    beforeAll(async () => {
      crypto = await loadCrypto()
      delegateId = createIdentity(new Uint8Array(32).fill(7), crypto).nodeId
      userId = chainOf().accounts[1].nodeId
    })

    const wish = (part: Partial<DelegationWish> = {}): DelegationWish => ({
      ...{ chainId: 31337, streams: [], publishes: true, reads: true, lastsMs: 86_400_000 },
      requester: 'https://page.example',
      ...part,
    })
    const ask = (signer: Signer, asked = wish(), signal?: AbortSignal) =>
      requestDelegation(signer, delegateId, asked, { crypto, clock: { now: () => nowMs } }, signal)
    const registriesOf = async (signer: Signer) => {
      const { url, registries } = chainOf()
      const at = { rpcUrl: url, registries, pollIntervalMs: 20 }
      return openChainRegistries({ ...at, account: signer }, { clock: systemClock })
    }

    it('has one address, in lower case', async () => {
      const { signer } = kind.start()
      expect(await Promise.all([signer.address(), signer.address()])).toEqual([userId, userId])
    })

    it('signs delegations that are good without asking anybody', async () => {
      const { signer } = kind.start()
      const streams = ['a', 'b/c'].map((path) => toStreamId(`${userId}/${path}`))
      for (const asked of [wish(), wish({ streams, reads: false, requester: 'a "program" \\ 1' })]) {
        const delegation = await ask(signer, asked)
        expect(delegation).toMatchObject({ userId, delegateId, block: 0, untilMs: nowMs + asked.lastsMs })
        expect(isSignedByKey(delegation, crypto)).toBe(true)
      }
    })

    it('signs cards', async () => {
      const { signer } = kind.start()
      const asked = { chainId: 31337, generation: 7, publicKey: new Uint8Array(cardPublicKeyBytes).fill(9) }
      const card = await requestCard(signer, asked, { crypto, clock: { now: () => nowMs } })
      expect(card).toMatchObject({ ...asked, userId, block: 0, dateMs: nowMs })
      expect(isCardSignedByKey(card, crypto)).toBe(true)
    })

    it('signs and pays for changes of the registries', async () => {
      const { signer } = kind.start()
      const registries = await registriesOf(signer)
      const [path, other] = [1, 2].map((n) => `${kind.name.replaceAll(' ', '-')}/${n}`)
      const id = toStreamId(`${userId}/${path}`)
      const stream = { metadata: '{}', partitions: 3, trackers: [] }
      await Promise.all([
        registries.streams.createStream({ id, ...stream }),
        registries.streams.createStream({ id: toStreamId(`${userId}/${other}`), ...stream }),
      ])
      expect(await registries.streams.getStream(id)).toMatchObject({ id, partitions: 3 })
      await expect(registries.streams.createStream({ id, ...stream })).rejects.toMatchObject({
        code: 'STREAM_EXISTS',
      })
      await registries.stop()
    })

    it('does nothing that was given up before', async () => {
      const { signer } = kind.start()
      await expect(ask(signer, wish(), AbortSignal.abort('too late'))).rejects.toMatchObject({
        code: 'ABORTED',
        cause: 'too late',
      })
    })

    const { distant } = kind
    if (distant === undefined) return

    it('stops waiting when it is told to', async () => {
      const { signer, hold } = distant.start()
      const { promise, resolve } = Promise.withResolvers<void>()
      hold(promise)
      const controller = new AbortController()
      const asking = ask(signer, wish(), controller.signal)
      controller.abort()
      await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
      resolve()
    })

    /** Nothing comes of asking it for a change of the registries: the error. */
    const failedChange = async (signer: Signer): Promise<unknown> => {
      const { provider } = chainOf()
      const sentBefore = await provider.getTransactionCount(userId)
      const registries = await registriesOf(signer)
      const stream = { id: toStreamId(`${userId}/failed`), metadata: '', partitions: 1, trackers: [] }
      const error: unknown = await registries.streams.createStream(stream).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      await registries.stop()
      expect(await provider.getTransactionCount(userId)).toBe(sentBefore)
      return error
    }

    it('says that its owner refused, and can be asked again', async () => {
      const { signer, refuse } = distant.start()
      await signer.address()
      refuse(true)
      await expect(ask(signer)).rejects.toMatchObject({ code: distant.refusal })
      expect(await failedChange(signer)).toMatchObject({ code: distant.refusal })
      refuse(false)
      expect(await ask(signer)).toMatchObject({ userId })
    })

    it('that is on another chain says which it should be on', async () => {
      const { signer, moveToChain } = distant.start()
      moveToChain(5)
      expect(await failedChange(signer)).toMatchObject({
        code: 'SIGNER_OTHER_CHAIN',
        message: expect.stringContaining('31337'),
      })
    })
  })
}
