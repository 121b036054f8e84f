import type { LinkPath } from '@runnel/transport'

/** How the two are linked: the joining one dials the other; WebRTC between them; WebRTC through coturn, as both may use nothing else. */
export const firstArms = ['websocket', 'direct', 'relayed'] as const
export type FirstArm = (typeof firstArms)[number]

/**
 * cold: from the start of a client, which has no connection to anything. warm: the same client, with its registry and its tracker, joins another
 * stream, of a node it has no link with.
 */
export const starts = ['cold', 'warm'] as const
export type Start = (typeof starts)[number]

/**
 * What is waited for: a message of a stream that is published to all the time, or, in a session, a picture that a decoder can begin with, taken
 * from its messages as source 001 does and not decoded.
 */
export const goals = ['message', 'frame'] as const
export type Goal = (typeof goals)[number]

/**
 * What there is on the way, in its order; not all ways have all. instruction: the link begins to be made, so that an answerer's has the offer in it.
 * ice: for a WebSocket TCP. handshake: the node is a neighbour, so that it has what is between, as the HTTP upgrade and the opening of the channel.
 * member: of a session, who publishes has said so.
 */
export const stages = [
  'registry',
  'tracker',
  'instruction',
  'ice',
  'dtls',
  'sctp',
  'handshake',
  'member',
  ...goals,
] as const
export type Stage = (typeof stages)[number]

/** When each was reached, in milliseconds from the start. */
export type StageTimes = Readonly<Partial<Record<Stage, number>>>

export interface FirstOptions {
  readonly goal: Goal
  readonly arms: readonly FirstArm[]
  readonly repeats: number
  /** Between any two hosts. */
  readonly oneWayMs: number
  /** From each end to coturn; half as long, and the way over it is as long as any other. */
  readonly relayOneWayMs: number
}

/** What a process of an arm is told, as its one argument. */
export interface FirstTask {
  readonly goal: Goal
  readonly arm: FirstArm
  readonly networkFile: string
  readonly streamIds: Readonly<Record<Start, string>>
  /** Of the publishing node, and the first of its two ports. */
  readonly publisher: { readonly address: string; readonly port: number }
  /** Of pictures, where they are the goal. */
  readonly clipFile: string | undefined
  readonly recordFile: string
}

export type LinkSide = 'offerer' | 'answerer'

export interface StartReport {
  readonly stages: StageTimes
  /** Of WebRTC. */
  readonly side: LinkSide | undefined
  readonly transport: string | undefined
  /** Of WebRTC. */
  readonly path: LinkPath | undefined
}

/** What a joining process tells. */
export interface JoinReport extends Readonly<Record<Start, StartReport>> {
  /** From the start of the process to that of its client: Node and the modules. */
  readonly processMs: number
  /** Of the process until both starts were done. */
  readonly cpuMs: number
  readonly rssBytes: number
}

export interface PublishReport {
  readonly cpuMs: number
  readonly elapsedMs: number
  readonly rssBytes: number
}

/** A start that has not come to its goal after so long has failed, and says how far it came. */
export const startLimitMs = 20_000

/** Between two messages of a publishing node. */
export const publishEveryMs = 20

/** The pictures of a session, and the partition that they are published in. */
export const clip = {
  ...{ size: { width: 320, height: 180 }, picturesPerS: 15, kbitPerS: 110, picturesOfGroup: 60 },
  ...{ pictures: 120, partition: 1 },
} as const
/** Of a stream for a session: see docs/media.md. */
export const sessionPartitions = 4

export const transportsOf = (arm: FirstArm) => ({
  webrtc: arm === 'websocket' ? (false as const) : { iceTransportPolicy: policies[arm] },
})
const policies = { direct: 'all', relayed: 'relay' } as const
