import {
  createIdentity,
  isSignedByKey,
  loadCrypto,
  parsePrivateKey,
  toStreamId,
  type NodeId,
} from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { keySigner } from './key-signer.ts'
import type { DelegationWish } from './request-delegation.ts'
import { forgetSession, openSession, type Session } from './session.ts'
import { memoryStore, type SessionStore } from './session-store.ts'
import type { Signer } from './signer.ts'

const crypto = await loadCrypto()
const hourMs = 3_600_000
const startMs = Date.UTC(2031, 3, 5)
const wish: DelegationWish = {
  ...{ chainId: 137, streams: [], publishes: true, reads: true, lastsMs: 24 * hourMs },
  requester: 'https://page.example',
}

let store: SessionStore
let asked: number
let wallMs: number
beforeEach(() => {
  store = memoryStore()
  asked = 0
  wallMs = startMs
})

function signerOf(digits: string): Signer {
  const signer = keySigner(digits.repeat(32))
  return {
    ...signer,
    signTypedData(data, signal) {
      asked++
      return signer.signTypedData(data, signal)
    },
  }
}
const user = signerOf('11')

function open(signer = user, changed: Partial<DelegationWish> = {}, signal?: AbortSignal): Promise<Session> {
  const modules = { clock: { now: () => wallMs } }
  return openSession(signer, { ...wish, ...changed }, store, modules, signal)
}

describe('a session', () => {
  it('has a key, and a delegation to it', async () => {
    const { delegatePrivateKey, delegation } = await open()
    const { nodeId } = createIdentity(parsePrivateKey(delegatePrivateKey), crypto)
    expect(delegation).toMatchObject({ userId: await user.address(), delegateId: nodeId })
    expect(isSignedByKey(delegation, crypto)).toBe(true)
  })

  it('is asked for once, however many want it, and kept while it lasts', async () => {
    const [first, second] = await Promise.all([open(), open()])
    wallMs += 23 * hourMs
    expect([second, await open()]).toEqual([first, first])
    expect(asked).toBe(1)
  })

  it('is asked for again shortly before it ends, after half of one that is short', async () => {
    await open()
    wallMs += 24 * hourMs - 60_000
    await open()
    expect(asked).toBe(2)
    await open(user, { reads: false, lastsMs: 60_000 })
    await open(user, { reads: false, lastsMs: 60_000 })
    expect(asked).toBe(3)
    wallMs += 31_000
    await open(user, { reads: false, lastsMs: 60_000 })
    expect(asked).toBe(4)
  })

  it('is asked for again when it was taken back', async () => {
    const revoked = new Set<NodeId>()
    const delegations = {
      check: ({ delegateId }: { delegateId: NodeId }) => (revoked.has(delegateId) ? 'denied' : 'allowed'),
      resolve: () => Promise.resolve(),
    } as const
    const openChecked = () => openSession(user, wish, store, { clock: { now: () => wallMs }, delegations })
    const first = await openChecked()
    expect(await openChecked()).toEqual(first)
    revoked.add(first.delegation.delegateId)
    const second = await openChecked()
    expect(second.delegation.delegateId).not.toBe(first.delegation.delegateId)
    expect(await openChecked()).toEqual(second)
    expect(asked).toBe(2)
  })

  it('is of one account, chain, and set of streams and rights', async () => {
    const streams = ['a', 'b'].map((path) => toStreamId(`0x${'ab'.repeat(20)}/${path}`))
    const others: (readonly [Signer, Partial<DelegationWish>])[] = [
      [user, {}],
      [signerOf('22'), {}],
      [user, { chainId: 1 }],
      [user, { streams }],
      [user, { publishes: false }],
    ]
    const sessions: Session[] = []
    for (const [signer, changed] of others) sessions.push(await open(signer, changed))
    expect(new Set(sessions.map(({ delegatePrivateKey }) => delegatePrivateKey)).size).toBe(others.length)
    expect(await open(user, { streams: streams.toReversed() })).toEqual(sessions[3])
    expect(asked).toBe(others.length)
  })

  it('is asked for anew when it was forgotten, or what is kept is of no use', async () => {
    const first = await open()
    forgetSession(first, store)
    const second = await open()
    expect(second.delegatePrivateKey).not.toBe(first.delegatePrivateKey)
    const name = `session 137 ${await user.address()} pr`
    const ofAnother = await open(signerOf('22'))
    const otherText = store.get(`session 137 ${ofAnother.delegation.userId} pr`) ?? ''
    const kept = JSON.parse(store.get(name) ?? '') as Record<string, unknown>
    const spoilt = [
      '',
      '{',
      '[]',
      'null',
      otherText,
      JSON.stringify({ ...kept, version: 2 }),
      JSON.stringify({ ...kept, privateKey: '0x12' }),
      JSON.stringify({ ...kept, privateKey: first.delegatePrivateKey }),
      JSON.stringify({ ...kept, delegation: `${String(kept['delegation']).slice(0, -2)}07` }),
    ]
    for (const text of spoilt) {
      store.set(name, text)
      await open()
    }
    expect(asked).toBe(3 + spoilt.length)
  })

  it('that was refused leaves nothing behind, and the next is asked for', async () => {
    const refusing: Signer = { ...user, signTypedData: () => Promise.reject(new Error('no')) }
    const opened = await Promise.allSettled([open(refusing), open()])
    expect(opened.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(asked).toBe(1)
  })

  it('can be given up while another is asked for', async () => {
    const answer = Promise.withResolvers<string>()
    const asking = Promise.withResolvers<void>()
    const slow: Signer = {
      ...user,
      signTypedData(_data) {
        asking.resolve()
        return answer.promise
      },
    }
    const first = open(slow)
    await asking.promise
    const controller = new AbortController()
    const second = open(user, {}, controller.signal)
    controller.abort()
    await expect(second).rejects.toMatchObject({ code: 'ABORTED' })
    answer.resolve('0x')
    await expect(first).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
    expect(asked).toBe(0)
  })
})
