/** Which of the responder's four sockets: the address, then the port, 0 or 1 of each. */
export type Corner = readonly [address: 0 | 1, port: 0 | 1]

export const probePorts = [34781, 34782] as const

/** To the responder; it answers from `from`, whatever socket the request came to. */
export interface ProbeRequest {
  readonly id: number
  readonly from: Corner
}

export interface ProbeReply {
  readonly id: number
  /** Where the request came from, as seen there. */
  readonly seen: string
}
