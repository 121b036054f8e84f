import { toStreamPartId, type NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import type { TrackerAddress } from '../../ports.ts'
import { idOf, partId, streamId } from '../core.testkit.ts'
import { TrackerLinks } from './tracker-links.ts'

const otherPartId = toStreamPartId(streamId, 1)

function script(...trackers: number[]) {
  const lines: string[] = []
  let directory: TrackerAddress[] = trackers.map((n) => ({ nodeId: idOf(n), url: `ws://${n}` }))
  const name = (id: NodeId): number => Number.parseInt(id.slice(-4), 16)
  const links = new TrackerLinks(networkLimits, {
    trackersFor: () => directory,
    random: () => 0,
    effects: {
      dial: ({ nodeId }) => lines.push(`dial ${name(nodeId)}`),
      hangUp: (id) => lines.push(`hang up ${name(id)}`),
      sendNodeInfo: (id) => lines.push(`info ${name(id)}`),
      sendStatus: (id, part) => lines.push(`status ${name(id)} ${part.at(-1)}`),
      sendLeave: (id, part) => lines.push(`leave ${name(id)} ${part.at(-1)}`),
      newSession: (part) => lines.push(`session ${part.at(-1)}`),
    },
  })
  return {
    links,
    setDirectory: (...next: number[]) =>
      void (directory = next.map((n) => ({ nodeId: idOf(n), url: `ws://${n}` }))),
    /** What a step made the node do. */
    after: (step: () => void): string[] => {
      lines.length = 0
      step()
      links.flush()
      return [...lines]
    },
  }
}

describe('tracker links', () => {
  it('dials once for all stream parts, introduces itself, and reports each', () => {
    const { links, after } = script(1)
    expect(after(() => links.join(partId, 0))).toEqual(['dial 1'])
    expect(after(() => links.join(otherPartId, 0))).toEqual([])
    expect(after(() => links.opened(idOf(1), 10))).toEqual([
      'info 1',
      'session 0',
      'session 1',
      'status 1 0',
      'status 1 1',
    ])
  })

  it('tells many changes of one turn with one status', () => {
    const { links, after } = script(1)
    links.join(partId, 0)
    links.opened(idOf(1), 10)
    links.flush()
    const changes = (): void => {
      for (let i = 0; i < 5; i++) links.statusDue(partId)
    }
    expect(after(changes)).toEqual(['status 1 0'])
    expect(after(() => undefined)).toEqual([])
  })

  it('dials a lost tracker again, ever more slowly, and reports anew', () => {
    const { links, after } = script(1)
    links.join(partId, 0)
    links.opened(idOf(1), 0)
    expect(after(() => links.closed(idOf(1), 100))).toEqual([])
    expect(links.dueMs).toBe(1_100)
    expect(after(() => links.tick(1_100))).toEqual(['dial 1'])
    links.closed(idOf(1), 1_200)
    expect(links.dueMs).toBe(3_200)
    links.tick(3_200)
    expect(after(() => links.opened(idOf(1), 3_300))).toEqual(['info 1', 'session 0', 'status 1 0'])
  })

  it('takes the next tracker while the first cannot be reached, and goes back', () => {
    const { links, after } = script(1, 2)
    links.join(partId, 0)
    expect(after(() => links.closed(idOf(1), 0))).toEqual(['dial 2'])
    expect(after(() => links.opened(idOf(2), 10))).toEqual(['info 2', 'session 0', 'status 2 0'])
    expect(after(() => links.tick(1_000))).toEqual(['dial 1'])
    expect(after(() => links.opened(idOf(1), 1_010))).toEqual([
      'info 1',
      'leave 2 0',
      'session 0',
      'status 1 0',
    ])
    expect(after(() => links.tick(11_010))).toEqual(['hang up 2'])
  })

  it('follows the directory', () => {
    const { links, after, setDirectory } = script(1)
    links.join(partId, 0)
    links.opened(idOf(1), 0)
    setDirectory(2)
    expect(after(() => links.update(100))).toEqual(['leave 1 0', 'dial 2'])
    expect(after(() => links.opened(idOf(2), 200))).toEqual(['info 2', 'session 0', 'status 2 0'])
    expect(links.homeOf(partId)).toBe(idOf(2))
  })

  it('hangs up a while after the last stream part was left', () => {
    const { links, after } = script(1)
    links.join(partId, 0)
    links.opened(idOf(1), 0)
    expect(after(() => links.leave(partId, 100))).toEqual(['leave 1 0'])
    expect(links.dueMs).toBe(10_100)
    expect(after(() => links.tick(10_100))).toEqual(['hang up 1'])
  })
})
