import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/delegations.json' with { type: 'json' }
import { createIdentity, parsePrivateKey } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toNodeId } from '../ids/node-id.ts'
import { keyPartition, permissionScope, toStreamId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { sampleBatches, sampleDelegation, sampleIdentity, sampleNodeId } from '../messages/samples.testkit.ts'
import { signMembership } from '../signing/membership.ts'
import {
  boundsProblem,
  coversBatch,
  delegationRef,
  delegationProblem,
  delegationToleranceMs,
  isSignedByKey,
  signDelegation,
} from './check-delegation.ts'
import { actsForMs, checkCredential, type Credential } from './credential.ts'
import { decodeDelegation, encodeDelegation, type DelegationClaim } from './delegation.ts'
import { delegationDigest, delegationTypedData } from './typed-data.ts'

const crypto = await loadCrypto()
const user = sampleIdentity(crypto, 0)
const delegate = sampleIdentity(crypto, 1)
const stranger = sampleIdentity(crypto, 2)
const good = sampleDelegation(crypto)
const { chainId, fromMs, untilMs } = good
const dayMs = 86_400_000

describe('a delegation', () => {
  it.each(vectors)('is as in the vector "$name"', (vector) => {
    const { claim } = vector
    const of: DelegationClaim = {
      ...claim,
      userId: toNodeId(claim.userId),
      delegateId: toNodeId(claim.delegateId),
      streams: claim.streams.map(toStreamId),
    }
    expect(delegationTypedData(of)).toEqual(vector.typedData)
    expect(toHex(delegationDigest(of, crypto))).toBe(vector.digestHex)
    const bytes = fromHex(vector.hex)
    const read = decodeDelegation(bytes)
    expect(read).toEqual({ ...of, signature: fromHex(vector.signatureHex) })
    expect(encodeDelegation(read)).toEqual(bytes)
    expect(delegationRef(bytes, crypto)).toBe(vector.ref)
    const signer = createIdentity(parsePrivateKey(vector.privateKey), crypto)
    expect(isSignedByKey(read, crypto)).toBe(signer.nodeId === of.userId)
  })

  it('is signed by nobody else, and not when anything in it was changed', () => {
    const changes: Partial<DelegationClaim>[] = [
      { chainId: chainId + 1 },
      { userId: stranger.nodeId },
      { delegateId: stranger.nodeId },
      { fromMs: fromMs - 1 },
      { untilMs: untilMs + 1 },
      { publishes: false },
      { reads: false },
      { streams: [toStreamId(`${sampleNodeId('a')}/b`)] },
      { requester: 'https://another.example' },
      { block: 1 },
    ]
    for (const change of changes) expect(isSignedByKey({ ...good, ...change }, crypto)).toBe(false)
    expect(isSignedByKey(signDelegation(good, crypto, stranger), crypto)).toBe(false)
    for (const signature of [new Uint8Array(), new Uint8Array(65), good.signature.slice(1)])
      expect(isSignedByKey({ ...good, signature }, crypto)).toBe(false)
  })

  it('has a time, a chain, and bounds, each with its code', () => {
    const problem = (
      wallMs: number,
      changes: Partial<DelegationClaim> = {},
      on: number | undefined = chainId,
    ) => delegationProblem({ ...good, ...changes }, { chainId: on, wallMs })?.code
    expect(problem(fromMs - delegationToleranceMs)).toBeUndefined()
    expect(problem(fromMs - delegationToleranceMs - 1)).toBe('DELEGATION_NOT_YET')
    expect(problem(untilMs - 1)).toBeUndefined()
    expect(problem(untilMs)).toBe('DELEGATION_EXPIRED')
    expect(problem(fromMs, {}, 1)).toBe('DELEGATION_OTHER_CHAIN')
    expect(problem(fromMs, {}, undefined)).toBeUndefined()
    const streams = [toStreamId(`${sampleNodeId('a')}/b`)]
    expect(problem(fromMs, { untilMs: fromMs + 92 * dayMs })).toBeUndefined()
    expect(problem(fromMs, { untilMs: fromMs + 92 * dayMs + 1 })).toBe('DELEGATION_TOO_BROAD')
    expect(problem(fromMs, { streams, untilMs: fromMs + 366 * dayMs })).toBeUndefined()
    expect(problem(fromMs, { streams, untilMs: fromMs + 366 * dayMs + 1 })).toBe('DELEGATION_TOO_LONG')
    expect(boundsProblem(good)).toBeUndefined()
  })

  it('of the most streams with the longest ids and a signature that fills it has room, and no more', () => {
    const streams = Array.from({ length: limits.maxDelegationStreams }, (_, i) =>
      toStreamId(`${sampleNodeId('a')}/${String(i).repeat(limits.maxStreamPathBytes)}`),
    )
    const room =
      limits.maxDelegationBytes -
      encodeDelegation({ ...good, streams, signature: new Uint8Array(200) }).length
    const signature = new Uint8Array(200 + room)
    expect(encodeDelegation({ ...good, streams, signature })).toHaveLength(limits.maxDelegationBytes)
    expect(() => encodeDelegation({ ...good, streams, signature: new Uint8Array(201 + room) })).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
  })

  it('covers the batches of its user, in its streams, whose messages are all of its time', () => {
    const [, , batch] = sampleBatches(crypto).map((sample) => sample.batch)
    if (batch === undefined) throw new Error('no sample')
    const { streamId } = batch.chain
    const lastMs = batch.messages.at(-1)?.timestamp ?? 0
    const covers = (changes: Partial<DelegationClaim>): boolean =>
      coversBatch({ ...good, untilMs: lastMs + 1, ...changes }, batch)
    expect([{}, { streams: [streamId] }, { reads: false }].map(covers)).toEqual([true, true, true])
    const others: Partial<DelegationClaim>[] = [
      { userId: stranger.nodeId },
      { publishes: false },
      { streams: [toStreamId(`${user.nodeId}/other`)] },
      { fromMs: (batch.messages[0]?.timestamp ?? 0) + 1 },
      { untilMs: lastMs },
    ]
    expect(others.map(covers)).toEqual(others.map(() => false))
    // Readers publish in the key part, too.
    const keys = { ...batch, chain: { ...batch.chain, partition: keyPartition } }
    expect(coversBatch({ ...good, untilMs: lastMs + 1, publishes: false }, keys)).toBe(true)
    expect(coversBatch({ ...good, untilMs: lastMs, publishes: false }, keys)).toBe(false)
  })
})

describe('a credential', () => {
  const token = (of = delegate, nodeId = stranger.nodeId, expiresMs = untilMs - 1) =>
    signMembership({ nodeId, expiresMs }, crypto, of)
  const check = (credential: Credential, nodeId = delegate.nodeId, wallMs = fromMs) =>
    checkCredential(credential, { nodeId, chainId, wallMs }, crypto)

  it('says for whom a node acts: the delegate, or one that it lets', () => {
    expect(check({ delegation: good })).toMatchObject({ userId: user.nodeId, untilMs, isKeySigned: true })
    expect(check({ delegation: good, token: token() }, stranger.nodeId)).toMatchObject({
      userId: user.nodeId,
      untilMs: untilMs - 1,
    })
  })

  it('is of no use to anybody else, and has a code for each reason', () => {
    const code = (work: () => unknown): unknown => {
      try {
        return work()
      } catch (error) {
        return (error as { code: unknown }).code
      }
    }
    expect(code(() => check({ delegation: good }, stranger.nodeId))).toBe('DELEGATION_NOT_YOURS')
    for (const bad of [token(user), token(delegate, user.nodeId), token(delegate, stranger.nodeId, fromMs)])
      expect(code(() => check({ delegation: good, token: bad }, stranger.nodeId))).toBe(
        'DELEGATION_NOT_YOURS',
      )
    expect(code(() => check({ delegation: good }, delegate.nodeId, untilMs))).toBe('DELEGATION_EXPIRED')
    const forged = { ...good, requester: 'somebody else' }
    expect(code(() => check({ delegation: forged }))).toBe('DELEGATION_FORGED')
    // Of a contract only its chain can say.
    expect(check({ delegation: { ...good, block: 7 } })).toMatchObject({ isKeySigned: false })
  })

  it('gives what the delegation gives, and without one nothing is missing', () => {
    const streamId = toStreamId(`${sampleNodeId('a')}/b`)
    const acting = check({ delegation: sampleDelegation(crypto, { publishes: false, streams: [streamId] }) })
    expect(actsForMs(acting, 'reads', streamId, untilMs - 5)).toBe(5)
    expect(actsForMs(acting, 'publishes', streamId, fromMs)).toBe(0)
    expect(actsForMs(acting, 'reads', toStreamId(`${sampleNodeId('b')}/b`), fromMs)).toBe(0)
    const keys = permissionScope(streamId, keyPartition)
    expect(actsForMs(acting, 'publishes', keys, untilMs - 5)).toBe(5)
    const others = permissionScope(toStreamId(`${sampleNodeId('b')}/b`), keyPartition)
    expect(actsForMs(acting, 'reads', others, fromMs)).toBe(0)
    expect(actsForMs(undefined, 'publishes', streamId, fromMs)).toBe(Infinity)
  })
})
