import { toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { networkLimits } from '../../limits.ts'
import type { TrackerAddress } from '../../ports.ts'
import { idOf, partId, streamId } from '../core.testkit.ts'
import { TrackerLinks } from './tracker-links.ts'
import { circuitOver, directWay, type Way } from './way.ts'

export const otherPartId = toStreamPartId(streamId, 1)

export const urlOf = (n: number): string => `ws://tracker-${n}.example`

/** The way to the first tracker, over the others: the last of them is dialled. */
export function wayTo(n: number, ...over: number[]): Way {
  const last = over.at(-1)
  if (last === undefined) return directWay({ nodeId: idOf(n), url: urlOf(n) })
  const [next = last, ...others] = over
  const way = circuitOver(wayTo(next, ...others), urlOf(last), idOf(n))
  if (way === undefined) throw new Error('too long')
  return way
}

const numberOf = (id: NodeId): number => Number.parseInt(id.slice(-4), 16)

/** As `1` for a tracker's own URL, and `1/2` for a circuit to it over the second. */
export function nameOf({ trackerId, url, via }: Way): string {
  const numbers = [trackerId, ...via.toReversed()].map(numberOf)
  const isListed = via.length > 0 || url === urlOf(numberOf(trackerId))
  return `${numbers.join('/')}${isListed ? '' : ` at ${url}`}`
}

/** Trackers of a directory, and what a node does with them, as lines. */
export function script(...trackers: number[]) {
  const lines: string[] = []
  const reported: StreamPartId[] = []
  const listed = (numbers: readonly number[]): TrackerAddress[] =>
    numbers.map((n) => ({ nodeId: idOf(n), url: urlOf(n) }))
  let directory = listed(trackers)
  let ofOther: TrackerAddress[] | undefined
  const say = (what: string, way: Way, part?: StreamPartId) =>
    void lines.push(`${what} ${nameOf(way)}${part === undefined ? '' : ` ${part.at(-1)}`}`)
  const links = new TrackerLinks(networkLimits, {
    trackersFor: (part) => (part === otherPartId ? (ofOther ?? directory) : directory),
    random: () => 0,
    effects: {
      dial: (way) => say('dial', way),
      hangUp: (way) => say('hang up', way),
      sendNodeInfo: (way) => say('info', way),
      sendStatus: (way, part) => {
        reported.push(part)
        say('status', way, part)
      },
      sendLeave: (way, part) => say('leave', way, part),
      newSession: (part, lost) =>
        lines.push(`session ${part.at(-1)}${lost === undefined ? '' : ` after ${lost}`}`),
      newTracker: (part) => lines.push(`tracker ${part.at(-1)}`),
      silent: (id, part) => lines.push(`silent ${numberOf(id)} ${part.at(-1)}`),
      partFailed: (_, error) => {
        throw error
      },
    },
  })
  return {
    links,
    /** The stream parts of all statuses so far, in order. */
    reported,
    setDirectory: (...next: number[]) => void (directory = listed(next)),
    setOther: (...next: number[]) => void (ofOther = listed(next)),
    move: (n: number, url: string) =>
      void (directory = directory.map((it) => (it.nodeId === idOf(n) ? { ...it, url } : it))),
    /** What a step made the node do. */
    after: (step: () => unknown): string[] => {
      lines.length = 0
      step()
      links.flush(0)
      return [...lines]
    },
    /** All that comes of the passing of time alone, with the time it came at. */
    until: (endMs: number): string[] => {
      const said: string[] = []
      for (let steps = 0; links.dueMs <= endMs; steps++) {
        if (steps > 1_000) throw new Error('it wants to be called for ever')
        const nowMs = links.dueMs
        lines.length = 0
        links.tick(nowMs)
        links.flush(nowMs)
        said.push(...lines.map((line) => `${nowMs}: ${line}`))
      }
      return said
    },
    open: (n: number, nowMs: number) => {
      links.opened(wayTo(n), nowMs)
      links.instructed(wayTo(n), partId, nowMs)
      links.flush(nowMs)
    },
  }
}
