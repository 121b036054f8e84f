import {
  createIdentity,
  encodePacket,
  forEachPacket,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  signDelegation,
  type DelegationClaim,
  type Identity,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { checkedCredential } from './credentials.ts'
import { PeerCredential } from './peer-credential.ts'

const crypto = await loadCrypto()
const random = seededRandom('peer credential')
const [user, other, peer] = [1, 2, 3].map(() => createIdentity(generatePrivateKey(random), crypto)) as [
  Identity,
  Identity,
  Identity,
]
const hourMs = 3_600_000
const chainId = 5

/** The body of a packet with a delegation to the peer. */
function credentialBody(clock: VirtualClock, changes: Partial<DelegationClaim> = {}, signer = user) {
  const claim = {
    ...{ chainId, userId: signer.nodeId, delegateId: peer.nodeId, block: 0 },
    ...{ fromMs: clock.now(), untilMs: clock.now() + hourMs, publishes: true, reads: true },
    ...{ streams: [], requester: '' },
    ...changes,
  }
  const delegation = signDelegation(claim, crypto, signer)
  let found = new Uint8Array()
  forEachPacket(encodePacket({ type: 'credential', delegation, token: undefined }), (_, body) => {
    found = body.slice()
  })
  return found
}

function setUp({ hasShown = true, maxCredentialsPerHour = 3 } = {}) {
  const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 1) })
  const acting = { chainId, credential: () => undefined, onChange: () => () => {} }
  const ended: string[] = []
  const modules = { clock, crypto, random, identity: other, acting }
  const actingFor = hasShown ? checkedCredential(peer.nodeId, credentialBody(clock), modules) : undefined
  const capabilities = new Set<string>()
  const credential = new PeerCredential(
    { nodeId: peer.nodeId, role: 'node', capabilities, showsCredential: hasShown, actingFor },
    { maxCredentialsPerHour },
    { ...modules, onExpired: (code) => ended.push(code) },
  )
  credential.watch()
  const renew = (changes?: Partial<DelegationClaim>, signer?: Identity) =>
    credential.renew(credentialBody(clock, changes, signer))
  return { clock, credential, ended, renew }
}

const refusedWith = (work: () => void, code: string) =>
  expect(work).toThrow(expect.objectContaining({ code }))

describe('the credential of a peer', () => {
  it('ends when its time is over, unless it is renewed before', () => {
    const { clock, credential, ended, renew } = setUp()
    clock.advanceBy(hourMs - 1)
    renew()
    clock.advanceBy(hourMs - 1)
    expect(ended).toEqual([])
    clock.advanceBy(1)
    expect(ended).toEqual(['DELEGATION_EXPIRED'])
    expect(credential.actingFor?.userId).toBe(user.nodeId)
  })

  it.each<[string, Partial<DelegationClaim>, Identity | undefined]>([
    ['PROTOCOL_VIOLATION', {}, other],
    ['DELEGATION_OTHER_CHAIN', { chainId: 1 }, undefined],
    ['DELEGATION_FORGED', { userId: other.nodeId }, undefined],
    ['DELEGATION_NOT_YOURS', { delegateId: other.nodeId }, undefined],
    ['DELEGATION_EXPIRED', { fromMs: 1, untilMs: 2 }, undefined],
  ])('is not renewed by one that is refused with %s, and stays what it was', (code, changes, signer) => {
    const { credential, renew } = setUp()
    const before = credential.actingFor
    refusedWith(() => renew(changes, signer), code)
    expect(credential.actingFor).toBe(before)
  })

  it('is not taken from one that had none, nor more often than is due', () => {
    refusedWith(() => setUp({ hasShown: false }).renew(), 'PROTOCOL_VIOLATION')
    const { clock, renew } = setUp({ maxCredentialsPerHour: 3 })
    for (let i = 0; i < 3; i++) renew()
    refusedWith(() => renew(), 'PROTOCOL_VIOLATION')
    clock.advanceBy(hourMs)
    renew()
  })

  it('is not watched any more once the link is closed', () => {
    const { clock, credential, ended } = setUp()
    credential.stop()
    clock.advanceBy(2 * hourMs)
    expect(ended).toEqual([])
  })
})
