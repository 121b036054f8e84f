/** Why something cannot be shown. */
export type FailureCode =
  | 'OFFLINE'
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'MALFORMED'
  | 'TOO_LARGE'
  | 'UNKNOWN_STREAM_PART'
  | 'NOT_FOUND'
  | 'BUSY'
  | 'REFUSED'

/** `detail` is for people, and may come from a stranger. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly where: string

  constructor(code: FailureCode, where: string, detail = '', options?: ErrorOptions) {
    super(detail, options)
    this.code = code
    this.where = where
  }
}

/** A sentence that a person understands, and what they can do. */
export function sentenceFor(error: unknown): string {
  if (!(error instanceof Failure)) return 'Something went wrong on this page. Reloading it may help.'
  const { code, where } = error
  switch (code) {
    case 'OFFLINE':
      return 'This device is offline. The page continues by itself when the connection is back.'
    case 'UNREACHABLE':
      return `The tracker at ${where} does not answer. It may have stopped, or the connection may be blocked. The page keeps trying.`
    case 'TIMEOUT':
      return `The tracker at ${where} takes too long to answer. The page keeps trying.`
    case 'MALFORMED':
      return `The server at ${where} is not a tracker that this page understands. It may run another version, or be something else.`
    case 'TOO_LARGE':
      return `The answer from ${where} is larger than this page accepts.`
    case 'UNKNOWN_STREAM_PART':
      return 'No node is in this stream part at the moment. It appears here as soon as somebody publishes or subscribes.'
    case 'NOT_FOUND':
      return `The tracker at ${where} does not have what this page asked for.`
    case 'BUSY':
      return `The tracker at ${where} is overloaded. The page asks again in a few seconds.`
    case 'REFUSED':
      return `The tracker at ${where} refused to answer.`
  }
}
