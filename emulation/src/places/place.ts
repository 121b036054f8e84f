import { overlayStrategies, type OverlayStrategyName } from '@runnel/protocol'
import type { Dilation } from './processes/dilation.ts'

/** Where the control API of a process answers: `http://host:port`, or `unix:/path` of a socket. */
export type ControlAddress = `http://${string}` | `unix:${string}`

/** A process of the experiment, and the machine that it has to itself, as others in the experiment see it. */
export interface Host {
  readonly name: string
  /** City or region. */
  readonly site: string
  /** IPv4 address at which the other hosts reach this one. */
  readonly address: string
  readonly control: ControlAddress
}

/** How nodes connect: all by WebSocket, all by WebRTC, or every second one can be reached by WebSocket. */
export const linkKinds = ['websocket', 'webrtc', 'mixed'] as const
export type LinkKind = (typeof linkKinds)[number]

/** Whether nodes ask neighbours for digests in place of copies that come late. */
export const floodKinds = ['thin', 'full'] as const
export type FloodKind = (typeof floodKinds)[number]

export const overlayKinds = overlayStrategies
export type OverlayKind = OverlayStrategyName

/** What a place is to run. */
export interface Fleet {
  readonly nodes: number
  readonly links: LinkKind
  readonly degree: number
  readonly overlay: OverlayKind
  /** thin, unless it is given. */
  readonly floods?: FloodKind
  /** So many times slower does time go for links and processes; 1, unless it is given. */
  readonly dilation?: number
}

/** The processes of a place, once all of them have been started. */
export interface Hosts {
  readonly tracker: Host
  readonly nodes: readonly Host[]
  /** Bearer token of the control API; undefined where its address is protection enough. */
  readonly token?: string
  /** How time goes for the processes, where that is not real time. */
  readonly dilation?: Dilation
}

/** What a place knows of itself, for the environment of a record: versions, lateness of an emulator. */
export type PlaceFacts = Readonly<Record<string, string | number | boolean | null>>

export type PlaceKind = 'loopback' | 'namespaces' | 'core' | 'hosts'

/**
 * Somewhere an experiment can run: namespaces with emulated links, CORE, loopback, machines of a cloud. Brings processes
 * up and down; what they do is the experiment's business.
 */
export interface Place {
  readonly kind: PlaceKind
  /** What records made here say. */
  readonly source: 'emulation' | 'aws'
  /** What rows call its delays. */
  readonly latency: string
  /** Aborts, with the reason, when a part of the place has ended unexpectedly; undefined where the place cannot tell. */
  readonly failed: AbortSignal | undefined
  /** Brings the network up, and on it one tracker and the nodes. Rejects when one of them does not start. */
  start(fleet: Fleet, signal: AbortSignal): Promise<Hosts>
  /** Ends a process without warning and starts it anew; resolves when its control API answers. */
  restart(host: Host, signal: AbortSignal): Promise<void>
  /** One-way delay in milliseconds that was requested, or measured before, between two hosts; undefined when unknown. */
  delayMs(from: Host, to: Host): number | undefined
  /** Loss on each host's link from now on, as a part of its packets each way. Rejects where it cannot be set. */
  setLoss(rate: number): Promise<void>
  facts(): Promise<PlaceFacts>
  /** Ends every process and takes the network down. Idempotent. */
  stop(): Promise<void>
}
