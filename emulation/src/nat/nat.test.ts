import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished, vi } from 'vitest'
import { readdirSync } from 'node:fs'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { Laboratory } from './laboratory.ts'
import { natBehaviours, natKinds } from './nat-kinds.ts'
import { probeNat, startResponder } from './probe/probe-nat.ts'
import { natDefaults, runNat, type NatOptions, type NatReport } from './run-nat.ts'

function ownNamespaces(): string[] {
  return readdirSync('/run/netns').filter((name) => name.startsWith(`runnel-nat-${process.pid}-`))
}

/** The test ends when the run has, also when it takes too long; of one that fails it is told how far it came. */
function runForTest(
  options: NatOptions,
  signal: AbortSignal,
  onProgress: (text: string) => void = () => {},
): Promise<NatReport> {
  const steps: string[] = []
  const running = runNat(options, signal, (text) => {
    steps.push(text)
    onProgress(text)
  })
  onTestFinished(() => running.then(() => {}).catch(() => {}))
  onTestFailed(() => console.error(steps.join('\n')))
  return running
}

it('are refused to who is not root, before anything starts', async () => {
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(1000)
  onTestFinished(() => getuid.mockRestore())
  await expect(runNat(natDefaults, AbortSignal.abort(), () => {})).rejects.toMatchObject({
    code: 'ROOT_NEEDED',
  })
})

describe.skipIf(lacksRoot)('NATs of the laboratory', () => {
  let laboratory: Laboratory
  beforeAll(async () => {
    laboratory = new Laboratory()
    laboratory.start()
    await startResponder(laboratory, AbortSignal.timeout(100_000))
  })
  afterAll(() => laboratory.remove())

  it.for(natKinds)('map and filter as their kind does: %s', async (kind, { signal }) => {
    const site = laboratory.addSite(kind)
    const [host] = site.hosts
    if (!host) throw new Error('a site without a host')
    expect(await probeNat(laboratory, host, signal)).toEqual(natBehaviours[kind])
    await site.remove()
  })
})

describe.skipIf(lacksRoot)('nodes behind NATs', () => {
  it('connect directly where theory allows, and through the relay where not', async ({ signal }) => {
    const { rows } = await runForTest(
      {
        repeats: 1,
        helpers: ['stun+turn'],
        scenarios: [
          { a: 'full-cone', b: 'port-restricted' },
          { a: 'symmetric', b: 'symmetric' },
        ],
      },
      signal,
    )
    expect(rows).toMatchObject([
      { outcome: 'direct', candidates: expect.stringMatching(/^[sp]rflx–[sp]rflx$/), failure: null },
      { outcome: 'relayed', candidates: expect.stringContaining('relay'), failure: null },
    ])
    // Times are there; how long they are depends on the machine.
    for (const row of rows) expect(row.totalP50Ms).toBeGreaterThan(0)
    expect(ownNamespaces()).toEqual([])
  })

  it.for([
    ['stun+turn-tls', 'relayed'],
    ['stun+carrier', 'circuit'],
  ] as const)('are linked without UDP: with %s', async ([helpers, outcome], { signal }) => {
    const scenarios = [{ a: 'udp-blocked', b: 'udp-blocked' }] as const
    const { rows } = await runForTest({ repeats: 1, helpers: [helpers], scenarios }, signal)
    expect(rows).toMatchObject([{ outcome, failure: null }])
    expect(ownNamespaces()).toEqual([])
  })

  it('say why they are not linked, to their tracker too', async ({ signal }) => {
    const { rows } = await runForTest(
      { repeats: 1, helpers: ['stun'], scenarios: [{ a: 'symmetric', b: 'symmetric' }] },
      signal,
    )
    expect(rows).toMatchObject([{ outcome: 'none', failure: 'DIAL_TIMEOUT', reported: 'timeout' }])
    expect(ownNamespaces()).toEqual([])
  })

  it('end before they have begun where they are interrupted by then, beside another laboratory of this process', async () => {
    const other = new Laboratory()
    onTestFinished(() => other.remove())
    other.start()
    const before = ownNamespaces()
    const reason = new Error('enough')
    const running = runForTest(
      { repeats: 1, helpers: ['stun'], scenarios: [{ a: 'public', b: 'public' }] },
      AbortSignal.abort(reason),
    )
    await expect(running).rejects.toBe(reason)
    expect(ownNamespaces()).toEqual(before)
  })

  it('leave nothing behind when they are interrupted', async () => {
    const controller = new AbortController()
    const running = runForTest(
      { repeats: 1, helpers: ['stun'], scenarios: [{ a: 'public', b: 'public' }] },
      controller.signal,
      () => controller.abort(new Error('enough')),
    )
    await expect(running).rejects.toThrow('enough')
    expect(ownNamespaces()).toEqual([])
  })
})
