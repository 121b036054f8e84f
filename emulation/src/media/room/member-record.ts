/** What a member of a room is told, as its one argument. */
export interface MemberTask {
  readonly name: string
  readonly networkFile: string
  readonly streamId: string
  /** Where it writes its record when it is told to stop. */
  readonly recordFile: string
  /** URL of the relay that it goes through; undefined: it is a node of the overlay. */
  readonly via: string | undefined
  /** Files with what it publishes. */
  readonly voiceFile: string | undefined
  readonly clipFile: string | undefined
  readonly picturesPerS: number
  /** How many others there will be. */
  readonly others: number
  /** See `ClientOptions`. */
  readonly thinFloods: boolean
}

/** What a member tells the driver: how many others it knows. */
export interface MemberNews {
  readonly others: number
}

/** A frame that came. All times are microseconds of the monotonic clock that all processes share, as slow as time goes for them. */
export interface ArrivedObject {
  readonly from: string
  readonly kind: 'audio' | 'video'
  /** When it was recorded, as its publisher says. */
  readonly timestampUs: number
  readonly arrivedUs: number
  readonly group: number
  readonly object: number
  readonly isKey: boolean
  readonly dependency: number
}

/** Where the counters of a member stood. */
export interface MemberSample {
  readonly atUs: number
  /** Of the processor, since the process began, in real time. */
  readonly cpuUs: number
  /** Urgent messages that were known already, of sound and of pictures. */
  readonly soundAgain: number
  readonly picturesAgain: number
}

export interface MemberRecord {
  readonly name: string
  /** The timestamps of what it sent. */
  readonly sentUs: { readonly audio: readonly number[]; readonly video: readonly number[] }
  readonly arrived: readonly ArrivedObject[]
  readonly samples: readonly MemberSample[]
}
