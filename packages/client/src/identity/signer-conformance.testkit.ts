import {
  createIdentity,
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
import { keysOnly, requestDelegation, type DelegationWish } from './request-delegation.ts'
import type { Signer } from './signer.ts'

/** A signer for the second account of the chain, and what can be done to it. */
export interface SignerUnderTest {
  readonly signer: Signer
  /** Makes it refuse, or do what is asked, from now on. Not where nobody is asked. */
  readonly refuse?: (refuses: boolean) => void
  /** Puts it on a chain that it cannot leave. Not where it signs for any. */
  readonly moveToChain?: (chainId: number) => void
  /** Makes answers wait for this. Not where there is nothing to wait for. */
  readonly hold?: (until: Promise<unknown>) => void
}

export interface SignerKind {
  readonly name: string
  readonly start: () => SignerUnderTest | Promise<SignerUnderTest>
  /** What its owner's refusal is called. */
  readonly refusal: string
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
      requestDelegation(
        signer,
        delegateId,
        asked,
        { crypto, accounts: keysOnly, wallMs: () => nowMs },
        signal,
      )
    const registriesOf = async (signer: Signer) => {
      const { url, registries } = chainOf()
      const at = { rpcUrl: url, registries, pollIntervalMs: 20 }
      return openChainRegistries({ ...at, account: signer }, { clock: systemClock })
    }

    it('has one address, in lower case', async () => {
      const { signer } = await kind.start()
      expect(await Promise.all([signer.address(), signer.address()])).toEqual([userId, userId])
    })

    it('signs delegations that are good without asking anybody', async () => {
      const { signer } = await kind.start()
      const streams = ['a', 'b/c'].map((path) => toStreamId(`${userId}/${path}`))
      for (const asked of [wish(), wish({ streams, reads: false, requester: 'a "program" \\ 1' })]) {
        const delegation = await ask(signer, asked)
        expect(delegation).toMatchObject({ userId, delegateId, block: 0, untilMs: nowMs + asked.lastsMs })
        expect(isSignedByKey(delegation, crypto)).toBe(true)
      }
    })

    it('signs and pays for changes of the registries', async () => {
      const { signer } = await kind.start()
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

    it('stops waiting when it is told to', async () => {
      const { signer, hold } = await kind.start()
      await expect(ask(signer, wish(), AbortSignal.abort('too late'))).rejects.toMatchObject({
        code: 'ABORTED',
        cause: 'too late',
      })
      if (hold === undefined) return
      const { promise, resolve } = Promise.withResolvers<void>()
      hold(promise)
      const controller = new AbortController()
      const asking = ask(signer, wish(), controller.signal)
      controller.abort()
      await expect(asking).rejects.toMatchObject({ code: 'ABORTED' })
      resolve()
    })

    it('says that its owner refused, and can be asked again', async () => {
      const { signer, refuse } = await kind.start()
      if (refuse === undefined) return
      await signer.address()
      refuse(true)
      await expect(ask(signer)).rejects.toMatchObject({ code: kind.refusal })
      const registries = await registriesOf(signer)
      const id = toStreamId(`${userId}/refused-by-${kind.name.replaceAll(' ', '-')}`)
      await expect(
        registries.streams.createStream({ id, metadata: '', partitions: 1, trackers: [] }),
      ).rejects.toMatchObject({ code: kind.refusal })
      await registries.stop()
      refuse(false)
      expect(await ask(signer)).toMatchObject({ userId })
    })

    it('that is on another chain says which it should be on, and nothing is sent', async () => {
      const { signer, moveToChain } = await kind.start()
      if (moveToChain === undefined) return
      moveToChain(5)
      const registries = await registriesOf(signer)
      const id = toStreamId(`${userId}/elsewhere`)
      await expect(
        registries.streams.createStream({ id, metadata: '', partitions: 1, trackers: [] }),
      ).rejects.toMatchObject({ code: 'SIGNER_OTHER_CHAIN', message: expect.stringContaining('31337') })
      await registries.stop()
    })
  })
}
