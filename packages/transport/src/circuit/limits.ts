/** What a node that carries circuits between others gives to them. */
export interface CircuitLimits {
  /**
   * Circuits carried at once, including those being opened. Beyond it, the newest of the network (/24, for IPv6 /48)
   * with the most is closed.
   */
  readonly maxCircuits: number
  /** Circuits to one node; shared out in the same way. */
  readonly maxCircuitsPerPeer: number
  /** Nodes waiting for circuits; shared out in the same way. */
  readonly maxWaiting: number
  /** Bytes a second of all circuits together, each frame counting for 128 more. A sender above it is read more slowly. */
  readonly maxBytesPerS: number
  /** Bytes a second of one circuit, both ways together. */
  readonly maxCircuitBytesPerS: number
  /** Bytes that may wait at either side of a circuit; above it the circuit is closed. */
  readonly maxQueuedBytes: number
}

export const circuitDefaults = {
  maxCircuits: 256,
  maxCircuitsPerPeer: 16,
  maxWaiting: 1_000,
  maxBytesPerS: 8 * 1024 * 1024,
  maxCircuitBytesPerS: 1024 * 1024,
  maxQueuedBytes: 1024 * 1024,
} as const satisfies CircuitLimits

/** What a frame counts for beside its bytes: an empty one is work too. */
export const frameCostBytes = 128
/** How often a carrier sends something to waiting nodes, so that no NAT forgets them. */
export const stillHereEveryMs = 20_000
/** A side gives up the other after hearing nothing from it for this long. */
export const silentAfterMs = 65_000
/** How long a waiting node may take to prove its id, and to take a circuit. */
export const answerTimeoutMs = 5_000
/** How long a circuit waits for a node that has just taken another one to wait again. */
export const nextPlaceTimeoutMs = 3_000
/** First pause before a place to wait is sought again; doubles each time. */
export const minSeekPauseMs = 1_000
/** Longest such pause. */
export const maxSeekPauseMs = 60_000
/** A node that waits nowhere leaves a carrier that failed alone for so long at most, in place of the hour of other addresses that it was told: nobody else may be there for it. */
export const maxCarrierRestMs = 600_000
/** WebSockets that a node opens a second, at most, to wait again after it has taken circuits. */
export const maxPlacesPerS = 8
/** Carriers that a node knows: those it is set up with, then those named last. */
export const maxCarriers = 8
