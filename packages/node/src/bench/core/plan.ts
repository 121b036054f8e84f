/** Kinds of user. `light` is a node in the generator's process; the others are real programs that it drives. */
export const userKinds = ['light', 'process', 'browser', 'http', 'mqtt'] as const
export type UserKind = (typeof userKinds)[number]

/** Whether users are no nodes, and reach the network through one. */
export const usesGateway = (kind: UserKind): boolean => kind === 'http' || kind === 'mqtt'

export const linkKinds = ['websocket', 'webrtc', 'mixed'] as const
export type LinkKind = (typeof linkKinds)[number]

/** Whether neighbours that are late are sent digests in place of copies (decision 057). */
export const floodKinds = ['thin', 'full'] as const
type FloodKind = (typeof floodKinds)[number]

/** Messages of one kind that a publisher sends, evenly spaced. */
export interface Flow {
  readonly name: string
  /** Of each publisher. */
  readonly ratePerS: number
  readonly sizeBytes: number
  /** Nobody keeps or repeats what is urgent, as sound and pictures are: some may be lost, and order is not promised. */
  readonly urgent: boolean
}

/** A stream part, which is one overlay. */
export interface PartAddress {
  readonly streamId: string
  readonly partition: number
}

/** What all users of a run are, the same for every generator. Plain data: workers get it as JSON. */
export interface LoadPlan {
  /** Written into each message, so that those of other runs do not count. */
  readonly runId: number
  /** Of this bench, below 2^16: others that publish in the same run, such as a second `bench pub`, have users of the same numbers. */
  readonly sender: number
  readonly kind: UserKind
  readonly links: LinkKind
  /** Of light users. */
  readonly floods: FloodKind
  readonly parts: readonly PartAddress[]
  /** Users, in all generators together. */
  readonly clients: number
  /** How many of a stream part's users publish. */
  readonly publishersPerPart: number
  readonly subscribes: boolean
  /** Stored messages that each user reads in place of taking part; 0 for users that take part. */
  readonly history: number
  readonly flows: readonly Flow[]
  /** Users that begin to join in a second, in all generators together. */
  readonly connectPerS: number
  /** Neighbours that a node of a settled overlay has. */
  readonly degree: number
}

/** Which part of the users a generator has. */
export interface Share {
  readonly index: number
  readonly of: number
}

/** A user of the run: where it is, and whether it publishes. */
export interface UserRole {
  readonly number: number
  /** Index in `parts`. */
  readonly part: number
  readonly publishes: boolean
}

/** The roles of one generator: neighbouring numbers, so that each stream part has users in every generator. */
export function rolesOf(plan: LoadPlan, { index, of }: Share): readonly UserRole[] {
  const from = Math.floor((plan.clients * index) / of)
  const to = Math.floor((plan.clients * (index + 1)) / of)
  return Array.from({ length: to - from }, (_, i) => roleOf(plan, from + i))
}

function roleOf({ parts, publishersPerPart }: LoadPlan, number: number): UserRole {
  return {
    number,
    part: number % parts.length,
    publishes: Math.floor(number / parts.length) < publishersPerPart,
  }
}

/** How many users of all generators are in a stream part. */
export function membersOf({ parts, clients }: LoadPlan, part: number): number {
  return Math.floor(clients / parts.length) + (part < clients % parts.length ? 1 : 0)
}

/** Messages a second that are published, by all users together. */
export function publishedPerS(plan: LoadPlan): number {
  const publishers = plan.parts.reduce(
    (sum, _, part) => sum + Math.min(plan.publishersPerPart, membersOf(plan, part)),
    0,
  )
  return publishers * plan.flows.reduce((sum, { ratePerS }) => sum + ratePerS, 0)
}

/** What users of a run do, as far as somebody has to let them. */
export type Doing = Pick<LoadPlan, 'kind' | 'subscribes' | 'publishersPerPart' | 'history'>
