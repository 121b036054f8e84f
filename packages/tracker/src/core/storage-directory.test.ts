import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { defaultTrackerLimits } from '../limits.ts'
import { StorageDirectory } from './storage-directory.ts'
import { nodeId, partA, partB, webrtcContact } from './tracker-core.testkit.ts'

function directoryOf(): StorageDirectory {
  const random = seededRandom('directory')
  return new StorageDirectory(defaultTrackerLimits, {
    random,
    contactOf: () => webrtcContact,
    count: (name) => expect.fail(name),
  })
}

describe('StorageDirectory', () => {
  it('does as a list of pairs would, whatever happens', () => {
    const random = seededRandom('storage')
    const directory = directoryOf()
    let model: (readonly [string, string])[] = []
    const without = (id: string, part?: string) =>
      model.filter(([node, of]) => node !== id || (part !== undefined && of !== part))
    for (let step = 0; step < 5_000; step++) {
      const id = nodeId(Math.floor(random.next() * 8))
      const part = random.next() < 0.5 ? partA : partB
      const dice = random.next()
      if (dice < 0.5) {
        directory.add(id, part)
        model = [...without(id, part), [id, part]]
      } else if (dice < 0.9) {
        directory.delete(id, part)
        model = without(id, part)
      } else {
        directory.forget(id)
        model = without(id)
      }
      for (const of of [partA, partB]) {
        const expected = model.filter(([, other]) => other === of).map(([node]) => node)
        const nodes = [...directory.nodes(of, random.next())]
        expect(nodes.toSorted()).toEqual(expected.toSorted())
        expect(directory.count(of)).toBe(expected.length)
      }
    }
  })

  it('begins anywhere, and goes round once', () => {
    const directory = directoryOf()
    for (let n = 1; n <= 4; n++) directory.add(nodeId(n), partA)
    const from = (start: number) => [...directory.nodes(partA, start)].map(Number)
    expect([from(0), from(0.3), from(0.999)]).toEqual([
      [1, 2, 3, 4],
      [2, 3, 4, 1],
      [4, 1, 2, 3],
    ])
  })
})
