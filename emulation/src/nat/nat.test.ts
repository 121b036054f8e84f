import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readdirSync } from 'node:fs'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { Laboratory } from './laboratory.ts'
import { natBehaviours, natKinds } from './nat-kinds.ts'
import { probeNat, startResponder } from './probe/probe-nat.ts'
import { runNat } from './run-nat.ts'

const { signal } = new AbortController()

function ownNamespaces(): string[] {
  return readdirSync('/run/netns').filter((name) => name.startsWith(`runnel-nat-${process.pid}-`))
}

describe.skipIf(lacksRoot)('NATs of the laboratory', () => {
  let laboratory: Laboratory
  beforeAll(async () => {
    laboratory = new Laboratory()
    laboratory.start()
    await startResponder(laboratory)
  })
  afterAll(() => laboratory.remove())

  it.each(natKinds)('map and filter as their kind does: %s', async (kind) => {
    const site = laboratory.addSite(kind)
    const [host] = site.hosts
    if (!host) throw new Error('a site without a host')
    expect(await probeNat(laboratory, host)).toEqual(natBehaviours[kind])
    await site.remove()
  })
})

describe.skipIf(lacksRoot)('nodes behind NATs', () => {
  it('connect directly where theory allows, and through the relay where not', async () => {
    const { rows } = await runNat(
      {
        repeats: 1,
        helpers: ['stun+turn'],
        scenarios: [
          { a: 'full-cone', b: 'port-restricted' },
          { a: 'symmetric', b: 'symmetric' },
        ],
      },
      signal,
      () => {},
    )
    expect(rows).toMatchObject([
      { outcome: 'direct', candidates: expect.stringMatching(/^[sp]rflx–[sp]rflx$/), failure: null },
      { outcome: 'relayed', candidates: expect.stringContaining('relay'), failure: null },
    ])
    // Times are there; how long they are depends on the machine.
    for (const row of rows) expect(row.totalP50Ms).toBeGreaterThan(0)
    expect(ownNamespaces()).toEqual([])
  })

  it.each([
    ['stun+turn-tls', 'relayed'],
    ['stun+carrier', 'circuit'],
  ] as const)('are linked without UDP: with %s', async (helpers, outcome) => {
    const scenarios = [{ a: 'udp-blocked', b: 'udp-blocked' }] as const
    const { rows } = await runNat({ repeats: 1, helpers: [helpers], scenarios }, signal, () => {})
    expect(rows).toMatchObject([{ outcome, failure: null }])
    expect(ownNamespaces()).toEqual([])
  })

  it('say why they are not linked, to their tracker too', async () => {
    const { rows } = await runNat(
      { repeats: 1, helpers: ['stun'], scenarios: [{ a: 'symmetric', b: 'symmetric' }] },
      signal,
      () => {},
    )
    expect(rows).toMatchObject([{ outcome: 'none', failure: 'DIAL_TIMEOUT', reported: 'timeout' }])
    expect(ownNamespaces()).toEqual([])
  })

  it('leave nothing behind when they are interrupted', async () => {
    const controller = new AbortController()
    const running = runNat(
      { repeats: 1, helpers: ['stun'], scenarios: [{ a: 'public', b: 'public' }] },
      controller.signal,
      () => controller.abort(new Error('enough')),
    )
    await expect(running).rejects.toThrow('enough')
    expect(ownNamespaces()).toEqual([])
  })
})
