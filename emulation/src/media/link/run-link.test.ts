import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRunDirectory } from '../../places/processes/run-directory.ts'
import { lacksRoot } from '../../underlay/privileges.testkit.ts'
import { linkArms } from './link-plan.ts'
import { encodeRenditions, type Renditions } from './renditions.ts'
import { runLink } from './run-link.ts'

const line = [
  { fromS: 0, kbitPerS: 1_000 },
  { fromS: 3, kbitPerS: 500 },
  { fromS: 5, kbitPerS: 1_000 },
]
let directory: string
let renditions: Renditions

describe.skipIf(lacksRoot)('a line in namespaces', () => {
  beforeAll(async () => {
    directory = openRunDirectory()
    renditions = await encodeRenditions(directory, new AbortController().signal, 30)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it.each([
    ...linkArms.map((arm) => ({ arm, beside: 'alone' as const })),
    ...(['bulk', 'media', 'tcp'] as const).map((beside) => ({ arm: 'ours' as const, beside })),
    { arm: 'window', beside: 'bulk' } as const,
  ])('brings pictures: $arm beside $beside', { timeout: 120_000 }, async ({ arm, beside }) => {
    const { signal } = new AbortController()
    const row = await runLink({ arm, beside, oneWayMs: 20, line, seconds: 7 }, renditions, signal)
    expect(row).toMatchObject({ arm, beside, oneWayMs: 20, of: 210 })
    expect(row['cameKbitPerS']).toHaveLength(7)
    // Beside others nothing may have come in so short a time.
    if (beside === 'alone') expect(Number(row['kbitPerS'])).toBeGreaterThan(0)
    else expect(Number(row['besideKbitPerS'])).toBeGreaterThan(0)
    expect(Number(row['sent'])).toBeGreaterThan(0)
  })
})
