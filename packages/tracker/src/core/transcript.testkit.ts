import {
  failureReasons,
  signalKinds,
  type FailureReason,
  type NodeId,
  type SignalKind,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { findStorage, nodeId, partA, statusOf, storing, TrackerStory } from './tracker-core.testkit.ts'
import type { TrackerEffect } from './tracker-core.ts'

/**
 * Plays the lines of a transcript that begin with `>` and returns it with what the core does after each.
 *
 * Nodes are letters, the stream part is always the same.
 *     > connect a                             > status a 2 [b c] lost:d        (counter, neighbours, failed)
 *     > disconnect a                          > leave a
 *     > signal a b offer                      > advance 50                     (milliseconds)
 *     > storing a yes                         > find a
 */
export function playTranscript(text: string): string {
  const story = new TrackerStory({ degree: 2, seed: 'transcript' })
  const lines = text.split('\n').filter((line) => !line.startsWith('<'))
  return lines
    .flatMap((line) => (line.startsWith('> ') ? [line, ...play(story, line.slice(2)).map(show)] : [line]))
    .join('\n')
}

function play(story: TrackerStory, command: string): TrackerEffect[] {
  const [verb, name = '', ...rest] = command.split(' ')
  if (verb === 'advance') return story.advance(Number(name))
  const id = idOf(name)
  if (verb === 'connect') return story.connect(id)
  if (verb === 'disconnect') return story.disconnect(id)
  if (verb === 'leave') return story.packet(id, { type: 'leave', streamPartId: partA })
  if (verb === 'status') return story.packet(id, parseStatus(rest.join(' ')))
  if (verb === 'find') return story.packet(id, findStorage())
  if (verb === 'storing') return story.packet(id, storing(partA, rest[0] === 'yes'))
  if (verb !== 'signal') throw new Error(`no such command: ${command}`)
  const [peer = '', word] = rest
  const kind = signalKinds.find((known) => known === word) as SignalKind
  return story.packet(id, { type: 'signal', peerId: idOf(peer), sessionId: 1, kind, payload: 'sdp' })
}

function parseStatus(text: string, part: StreamPartId = partA) {
  const match = /^(\d+) \[([a-z ]*)\]((?: [a-z]+:[a-z])*)$/.exec(text)
  if (match === null) throw new Error(`no status: ${text}`)
  const [, counter, neighbours = '', failed = ''] = match
  const words = (list: string) => list.split(' ').filter((word) => word !== '')
  return statusOf(
    part,
    Number(counter),
    words(neighbours).map(idOf),
    words(failed).map((word) => {
      const [reason, name = ''] = word.split(':')
      return { nodeId: idOf(name), reason: failureReasons.find((known) => known === reason) as FailureReason }
    }),
  )
}

function show(effect: TrackerEffect): string {
  if (effect.type === 'resolve') return `< resolve ${nameOf(effect.userId)}`
  const to = nameOf(effect.to)
  if (effect.type === 'refuse') return `< ${to} refuse ${effect.code}`
  const { packet } = effect
  if (packet.type === 'trackerError') return `< ${to} error ${packet.code}`
  if (packet.type === 'signal') return `< ${to} signal from ${nameOf(packet.peerId)} ${packet.kind}`
  const names = (nodes: readonly WantedNeighbour[]) =>
    `[${nodes
      .map((node) => nameOf(node.nodeId))
      .sort()
      .join(' ')}]`
  if (packet.type === 'offerTaken') return `< ${to} offer taken by ${nameOf(packet.peerId)}`
  if (packet.type === 'redirect') return `< ${to} redirect to ${nameOf(packet.leaderId)}`
  if (packet.type === 'storageNodes') return `< ${to} storage nodes ${names(packet.nodes)}`
  if (packet.type === 'count') return `< ${to} count ${packet.readers} and ${packet.feeders}`
  return `< ${to} instruction ${packet.counter} ${names(packet.neighbours)}`
}

function idOf(name: string): NodeId {
  return nodeId(name.charCodeAt(0))
}

function nameOf(id: NodeId): string {
  return String.fromCharCode(Number(BigInt(id)))
}
