import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FuzzNode } from './fuzz-node.ts'
import { drawPlan } from './fuzz-plan.ts'
import { FuzzWorld } from './fuzz-world.ts'
import type { SealedWorld } from './sealed-world.ts'

/** Overlays are whole, records have flooded, and keys that were looked for are found or given up. */
const settledMs = 50_000

let fuzz: FuzzWorld
let sealed: SealedWorld
let holder: FuzzNode
let publisher: FuzzNode

/** A key holder, and a publisher that may not read and seals in the holder's epoch. */
beforeEach(async () => {
  const calm = { lossRate: 0, jitterMs: 0, looksUp: false, limits: {}, degree: 4, streamParts: 1 }
  const kind = { overlay: 'random', sealed: { history: 'all', hasHolder: true } } as const
  const made = await FuzzWorld.create('a key holder', (random) => ({ ...drawPlan(random), ...calm, ...kind }))
  fuzz = made.fuzz
  if (fuzz.sealed === undefined) throw new Error('no encrypted stream')
  sealed = fuzz.sealed
  holder = await come({ reads: true })
  publisher = await come({ reads: false })
  await pass()
  await publish(holder)
  await publish(publisher)
})
afterEach(() => {
  for (const { sim } of fuzz.nodes.values()) void sim.node.stop()
  sealed.stream.stop()
})

async function come({ reads }: { readonly reads: boolean }): Promise<FuzzNode> {
  const node = await fuzz.addNode()
  sealed.stream.setReads(node.nodeId, reads)
  node.join(sealed.stream.part)
  return node
}

const pass = (): Promise<void> => fuzz.world.advanceTo(fuzz.nowMs + settledMs)

async function publish(node: FuzzNode): Promise<void> {
  fuzz.publish(node, sealed.stream.part, 0, 1)
  await pass()
}

/** A reader comes, the publisher goes on, and the reader tries all that it has. */
async function readAsNewcomer(): Promise<FuzzNode> {
  const reader = await come({ reads: true })
  await pass()
  await publish(publisher)
  await sealed.retry()
  await pass()
  sealed.check()
  return reader
}

const unopenedBy = ({ user }: FuzzNode): number => [...(user?.unopened ?? [])].length

describe('a reader that comes while the key holder is away', () => {
  it('is promised nothing while nobody there has the key', async () => {
    fuzz.kill(holder, 'closed')
    const reader = await readAsNewcomer()
    expect([fuzz.breaches.first, unopenedBy(reader)]).toEqual([undefined, 1])
  })

  describe('with another reader, who has the key', () => {
    let other: FuzzNode
    beforeEach(async () => {
      other = await come({ reads: true })
      await pass()
      await publish(publisher)
      expect(unopenedBy(other)).toBe(0)
      fuzz.kill(holder, 'closed')
    })

    it('opens all', async () => {
      const reader = await readAsNewcomer()
      expect([fuzz.breaches.first, unopenedBy(reader)]).toEqual([undefined, 0])
    })

    it('breaks what must hold where that does not answer', async () => {
      fuzz.world.network.setReading(other.nodeId, false)
      await readAsNewcomer()
      expect(fuzz.breaches.first?.invariant).toBe('secret')
    })
  })
})
