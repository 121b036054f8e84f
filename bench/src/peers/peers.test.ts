import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { peersBench } from './peers-bench.ts'
import { writeComparison } from './write-comparison.ts'

describe('peers', { timeout: 180_000 }, () => {
  it('installs some and measures them beside ours, all of them, and writes them as a page', async () => {
    const only = ['runnel-websocket-single', 'floor-websocket', 'js-gossipsub-d4-unsigned', 'aedes-qos1']
    const size = { nodes: 4, rounds: 1, seconds: 0.3, perS: 50, joins: 1 }
    const said: string[] = []
    const report = await peersBench({ ...size, only, limitS: 170 }, (text) => said.push(text))
    expect(report).toMatchObject({ absent: {}, failed: {}, brokeAtStop: {}, notRun: [] })
    expect(report.arms.map(({ name }) => name)).toEqual(only)
    for (const { saturated, paced } of report.arms) {
      expect(saturated).toMatchObject({ lost: 0 })
      expect(saturated.cpuUsPerDelivery).toBeGreaterThan(0)
      expect(paced.p50Ms).toBeGreaterThan(0)
    }
    // Four nodes with three neighbours each have six edges: twelve ends, less two for each of three that a message reaches.
    expect(report.arms[1]?.saturated.duplicatesPerMessage).toBe(6)
    expect(said).toContain('round 1 of 1: aedes-qos1')
    const folder = mkdtempSync(join(tmpdir(), 'runnel-comparison-'))
    writeFileSync(
      join(folder, 'COMPARISON.md'),
      `old figures\n\n<!-- By hand from here on; what is above is written by \`npm run -s bench -- peers --write\`. -->\n\nOurs.\n`,
    )
    await writeComparison(report, folder)
    const page = readFileSync(join(folder, 'COMPARISON.md'), 'utf8')
    expect(page).toMatch(/^# Beside its peers\n[^]*\| aedes \(`aedes-qos1`\) \| TCP \|[^]*-->\n\nOurs\.\n$/)
    expect(page).not.toMatch(/old figures|NaN|undefined/)
    const picture = readFileSync(join(folder, 'images/comparison.svg'), 'utf8')
    for (const text of [...only, '50 messages a second']) expect(picture).toContain(`>${text}<`)
    expect(picture).not.toMatch(/NaN|undefined/)
  })

  it('names what it had no time for', async () => {
    const size = { nodes: 4, rounds: 1, seconds: 0.3, perS: 50, joins: 0 }
    const report = await peersBench({ ...size, only: ['floor-websocket'], limitS: 0.1 }, () => {})
    expect(report).toMatchObject({ arms: [], notRun: ['round 1 of 1: floor-websocket'] })
  })
})
