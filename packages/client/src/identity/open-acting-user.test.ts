import { inspect } from 'node:util'
import {
  ciphers,
  createIdentity,
  encodeDelegation,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  signDelegation,
  toHex,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exportReadingKey } from '../encryption/export-reading-key.ts'
import type { ActingUser } from './acting-user.ts'
import { keySigner } from './key-signer.ts'
import { openActingUser, type ActingUserConfig, type ActingUserContext } from './open-acting-user.ts'
import { keysOnly } from './request-signature.ts'
import { memoryStore } from './session-store.ts'
import { walletSigner } from './wallet-signer.ts'
import { testWallet } from './wallet.testkit.ts'

const crypto = await loadCrypto()
const random = seededRandom('reading keys of clients')
const [userKey, delegateKey, nodeKey] = [1, 2, 3].map(() => generatePrivateKey(random)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]
const [user, delegate, node] = [userKey, delegateKey, nodeKey].map((key) => createIdentity(key, crypto)) as [
  ReturnType<typeof createIdentity>,
  ReturnType<typeof createIdentity>,
  ReturnType<typeof createIdentity>,
]
const privateKey = toHex(userKey)
const exported = await exportReadingKey(keySigner(privateKey), { chainId: 137 })
const delegationRequest = {
  ...{ lastsMs: 3_600_000, streams: [], publishes: true, reads: true },
  requester: 'a test',
}
const opened: ActingUser[] = []
let context: ActingUserContext

beforeEach(() => {
  const delegations = { check: () => 'allowed' as const, resolve: () => Promise.resolve() }
  context = {
    ...{ node, chainId: 137, accounts: keysOnly, delegations, sessions: memoryStore() },
    ...{ crypto, ciphers, clock: systemClock, random },
  }
})
afterEach(() => {
  for (const acting of opened.splice(0)) acting.stop()
})

async function open(config: Partial<ActingUserConfig>): Promise<ActingUser> {
  const whole: ActingUserConfig = {
    ...{ privateKey: undefined, delegation: undefined, signer: undefined, readingKey: undefined },
    ...{ delegationRequest, ...config },
  }
  const acting = await openActingUser(whole, context)
  opened.push(acting)
  return acting
}

function delegation(): NonNullable<ActingUserConfig['delegation']> {
  const claim = {
    ...{ chainId: 137, userId: user.nodeId, delegateId: delegate.nodeId, block: 0 },
    ...{ fromMs: Date.now() - 1000, untilMs: Date.now() + 3_600_000 },
    ...{ publishes: true, reads: true, streams: [], requester: 'a test' },
  }
  return {
    privateKey: toHex(delegateKey),
    delegation: toHex(encodeDelegation(signDelegation(claim, crypto, user))),
  }
}

const keyOf = async ({ readingKeys }: ActingUser) => toHex(await readingKeys.readingKey(0))

describe('what a client opens what is encrypted with', () => {
  it('is the same for a key here, a wallet, and a delegation with the reading key', async () => {
    const wallet = testWallet(new Wallet(privateKey), 137)
    const clients = await Promise.all([
      open({ privateKey }),
      open({ signer: walletSigner(wallet) }),
      open({ delegation: delegation(), readingKey: exported }),
    ])
    expect(clients.map(({ userId }) => userId)).toEqual(clients.map(() => user.nodeId))
    expect(await Promise.all(clients.map(keyOf))).toEqual(clients.map(() => exported.secret))
  })

  it('is asked of a wallet once a session, and not before it is needed', async () => {
    const wallet = testWallet(new Wallet(privateKey), 137)
    const signatures = () => wallet.asked.filter((method) => method.startsWith('eth_sign')).length
    const tabs = await Promise.all([1, 2].map(() => open({ signer: walletSigner(wallet) })))
    expect(signatures()).toBe(1)
    await Promise.all(tabs.map(keyOf))
    await keyOf(await open({ signer: walletSigner(wallet) }))
    expect(signatures()).toBe(2)
  })

  it('is of the node’s key only where the node is its user', async () => {
    expect(await keyOf(await open({}))).toBe(
      (await exportReadingKey(keySigner(toHex(nodeKey)), { chainId: 137 })).secret,
    )
    const acting = await open({ delegation: delegation() })
    await expect(keyOf(acting)).rejects.toMatchObject({ code: 'NO_READING_KEY' })
  })

  it('is the one that is given, of the right user only', async () => {
    const readingKey = { userId: user.nodeId, generation: 0, secret: `0x${'ab'.repeat(32)}` }
    const wallet = testWallet(new Wallet(privateKey), 137)
    const signer = walletSigner(wallet)
    for (const config of [{ privateKey }, { signer }, { delegation: delegation() }])
      expect(await keyOf(await open({ ...config, readingKey }))).toBe(readingKey.secret)
    await expect(open({ readingKey })).rejects.toMatchObject({ code: 'READING_KEY_NOT_YOURS' })
  })
})

it('no way of printing it shows a secret, nor does an error', async () => {
  const acting = [
    await open({ privateKey }),
    await open({ signer: keySigner(privateKey) }),
    await open({ delegation: delegation(), readingKey: exported }),
  ]
  for (const one of acting) {
    await keyOf(one)
    for (const text of [inspect(one, { depth: 12, showHidden: true }), JSON.stringify(one.readingKeys)]) {
      expect(text).not.toContain(exported.secret.slice(2, 18))
      expect(text).not.toContain(privateKey.slice(2, 18))
    }
  }
  const error = await open({ readingKey: exported }).catch((thrown: unknown) => thrown)
  expect(inspect(error, { depth: 12, showHidden: true })).not.toContain(exported.secret.slice(2, 18))
})
