import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { scalePage } from '../scale-page.ts'
import { assumptions, costs } from './inputs.ts'
import { nodeNeeds, storageNeeds, trackerNeeds, valuesOf } from './network-needs.ts'

const network = { ...valuesOf(assumptions), nodes: 1_000, streams: 100, stayS: 10 }
const cost = valuesOf(costs)

describe('what a network needs', () => {
  it('counts connections, joins and cores of trackers', () => {
    const needs = trackerNeeds(network, {
      ...cost,
      trackerIdleUsPerS: 500,
      trackerMsPerConnect: 1,
      trackerMsPerJoin: 2,
    })
    // 2,000 connections: one core idle, 200 of each a second.
    expect(needs).toMatchObject({ connections: 2_000, joinsPerS: 200, trackers: 4 })
    expect(needs.cores).toBeCloseTo(1 + 0.2 + 0.4)
  })

  it('counts what trackers send to nodes that do nothing, and for joins', () => {
    const sending = { ...network, pongBytes: 100, trackerPingS: 2, joinKb: 10 }
    const free = { coreMonth: 0, gbMonth: 0, tbTraffic: 3 }
    const { sentTb, euroPerMonth } = trackerNeeds({ ...sending, ...free }, cost)
    expect(sentTb).toBeCloseTo(((2_000 * 50 + 200 * 10_000) * 30 * 86_400) / 1e12)
    expect(euroPerMonth).toBeCloseTo(3 * sentTb)
  })

  it('pays for cores and memory of machines for storage', () => {
    const free = { tbMonth: 0, tbTraffic: 0 }
    const { euroPerMonth } = storageNeeds(
      { ...network, ...free, coreMonth: 10, storageGb: 4, gbMonth: 2 },
      cost,
      1,
    )
    expect(euroPerMonth).toBe(2 * 18)
  })

  it('counts messages on disks, and never fewer machines than copies', () => {
    const { writesPerS, diskTb, machines } = storageNeeds(network, { ...cost, storedBytes: 500 }, 1)
    expect(writesPerS).toBe(20)
    expect(diskTb).toBeCloseTo((20 * 30 * 86_400 * 500) / 1e12)
    expect(machines).toBe(2)
  })

  it('says what a node sends', () => {
    const idle = { idlePercent: 0.1, idleLinksPercent: 0.05, idleBytesPerS: 300 }
    const needs = nodeNeeds({ ...network, links: 8 }, { ...cost, ...idle, copiesSent: 3, deliveryUs: 500 }, 1)
    expect(needs.idleKbitPerS).toBeCloseTo((2 * 300 * 8) / 1e3)
    expect(needs.sentKbitPerS).toBeCloseTo(((2 * 300 + 2 * 3 * 400) * 8) / 1e3)
    // Eight links take twice the time of four; the rest of an idle node's work does not grow.
    expect(needs.corePercent).toBeCloseTo(0.15 + 0.1)
  })

  it('grows in proportion to the network', () => {
    const twice = { ...network, nodes: 2_000 }
    expect(trackerNeeds(twice, cost).memoryGb).toBeCloseTo(2 * trackerNeeds(network, cost).memoryGb)
  })

  it('is what the page says', () => {
    expect(readFileSync(new URL('../../docs/SCALE.md', import.meta.url), 'utf8')).toBe(scalePage())
  })

  it('takes every measured figure from where the documents have it', () => {
    const docs = new URL('../../docs/', import.meta.url)
    const names = [
      'COMPARISON.md',
      ...readdirSync(new URL('evaluation/', docs)).map((name) => `evaluation/${name}`),
    ]
    const pages = names.map((name) => readFileSync(new URL(name, docs), 'utf8'))
    for (const { value, measured } of Object.values(costs)) {
      const heading = /"(.*)"/.exec(measured.in)?.[1] ?? ''
      const section = pages.map((page) => sectionOf(page, heading)).find((text) => text !== '') ?? ''
      expect(section, measured.in).toContain(value.toLocaleString('en'))
    }
  })
})

/** From a heading to the next of any level; empty where there is none. */
function sectionOf(page: string, heading: string): string {
  const after = page.split(new RegExp(`^#+ ${heading}$`, 'm'))[1] ?? ''
  return after.split(/^#+ /m)[0] ?? ''
}
