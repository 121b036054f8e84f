/** What the users of a session did since it was asked before. */
interface SessionSample {
  readonly sent: number
  readonly sentBytes: number
  /** By all together. */
  readonly received: number
}

/** A session whose users all send. */
export interface OpenSession {
  /** The longest that one of them took to join. */
  readonly joinMs: number
  sample(): Promise<SessionSample>
}

/** Something that has users of one kind, in sessions. */
export interface Machine {
  /** Of what a person's program does; for people. */
  readonly leavesOut: string
  /** Users that have joined, also those of a session that is not full. */
  readonly joined: number
  /** Adds a session, whose users join while those before go on; throws what joining throws, and the signal's reason. */
  open(number: number, members: number, signal: AbortSignal): Promise<OpenSession>
  /** Ends all. Idempotent. */
  stop(): Promise<void>
}
