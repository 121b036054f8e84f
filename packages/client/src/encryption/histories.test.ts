import { ciphers, toHex, type Aead, type Cipher } from '@runnel/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Life, type History, type Step } from './histories.testkit.ts'
import { KnownKeys } from './known-keys.ts'

vi.mock('./hpke.ts', async (original) => {
  const { cachedHpke } = await import('./cached-hpke.testkit.ts')
  return cachedHpke(await original())
})

const hourMs = 3_600_000
const number = fc.nat(11)
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('publish' as const), process: number }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      user: number,
      as: fc.constantFrom('reader' as const, 'both' as const, 'writer' as const),
      forMs: fc.constantFrom(0, 0, hourMs, 2 * hourMs, 200_000, 20_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('revoke' as const, 'card' as const), user: number }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('share' as const), user: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold' as const), mayGrant: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      user: number,
      skewMs: fc.constantFrom(0, -60_000, 60_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), process: number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const), process: number }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), process: number }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      process: number,
      byMs: fc.constantFrom(-30_000, 30_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(10_000, hourMs) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('weather' as const),
      weather: fc.constantFrom(
        ...[{ isDeaf: true }, { isDeaf: false }, { isUnstored: true }, { isUnstored: false }],
        ...[{ isWithheld: true }, { isWithheld: false }, { delayMs: 3_000 }, { delayMs: 0 }],
        ...[{ isOutage: true }, { isOutage: false }],
        ...[{ isSilent: true }, { isSilent: false }, { isCardless: true }, { isCardless: false }],
      ),
    }),
  },
)
/** A reader comes, is given the key that is in use, and its opener goes. */
const goneOpener: History['steps'] = [
  { step: { kind: 'publish', process: 0 }, isQuick: false },
  { step: { kind: 'grant', user: 2, as: 'reader', forMs: hourMs }, isQuick: false },
  { step: { kind: 'crash', process: 0 }, isQuick: false },
]
/** A reader comes for less time than a publisher's clock is ahead, and is given keys. */
const shortPermission: History['steps'] = [
  { step: { kind: 'clock', process: 1, byMs: 30_000 }, isQuick: false },
  { step: { kind: 'publish', process: 1 }, isQuick: false },
  { step: { kind: 'start', user: 1, skewMs: 0 }, isQuick: false },
  { step: { kind: 'publish', process: 2 }, isQuick: false },
  { step: { kind: 'grant', user: 2, as: 'reader', forMs: 20_000 }, isQuick: true },
  { step: { kind: 'publish', process: 1 }, isQuick: false },
  { step: { kind: 'share', user: 2 }, isQuick: false },
  { step: { kind: 'pass', ms: 20_000 }, isQuick: false },
  { step: { kind: 'publish', process: 1 }, isQuick: false },
]
const randomSteps = fc.array(fc.record({ step: steps, isQuick: fc.boolean() }), {
  minLength: 4,
  maxLength: 24,
})
const histories: fc.Arbitrary<History> = fc
  .record({
    history: fc.constantFrom('all' as const, 'none' as const),
    hasHolder: fc.boolean(),
    before: fc.constantFrom<History['steps']>([], goneOpener, shortPermission),
    steps: randomSteps,
  })
  .map(({ before, steps, ...history }) => ({ ...history, steps: [...before, ...steps] }))

/** Plaintexts by the key and the nonce that they were sealed with. */
const sealed = new Map<string, string>()
const sealedTwice: string[] = []
const held = new Map<KnownKeys, Uint8Array[]>()

beforeEach(() => {
  const { aead } = ciphers
  vi.spyOn(ciphers, 'aead').mockImplementation((cipher: Cipher, key: Uint8Array): Aead => {
    const real = aead(cipher, key)
    const note = (nonce: Uint8Array, ...text: readonly Uint8Array[]) => {
      const place = `${toHex(key)} ${toHex(nonce)}`
      const hash = toHex(ciphers.sha256(...text))
      if ((sealed.get(place) ?? hash) !== hash) sealedTwice.push(place)
      sealed.set(place, hash)
    }
    return {
      open: (...given) => real.open(...given),
      seal: (...given) => {
        note(...given)
        return real.seal(...given)
      },
      sealApart: (...given) => {
        note(...given)
        return real.sealApart(...given)
      },
    }
  })
  const { add } = KnownKeys.prototype
  vi.spyOn(KnownKeys.prototype, 'add').mockImplementation(function (this: KnownKeys, key, createdMs) {
    held.set(this, [...(held.get(this) ?? []), key])
    return add.call(this, key, createdMs)
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  sealed.clear()
  held.clear()
})

async function live(history: History): Promise<void> {
  const life = await Life.begin(history, held)
  try {
    for (const step of history.steps) await life.take(step)
    expect(await life.unread()).toEqual([])
    expect(await life.leaks()).toEqual([])
    expect(sealedTwice).toEqual([])
  } finally {
    life.end()
  }
}

describe('the encryption of a stream', () => {
  it('opens messages for whoever may read them and for nobody else, whatever happens', async () => {
    // The same each time; SEED=… tries others, RUNS=… fewer or more.
    const seed = Number(process.env['SEED'] ?? 43)
    await fc.assert(fc.asyncProperty(histories, live), { numRuns: Number(process.env['RUNS'] ?? 150), seed })
  })
})
