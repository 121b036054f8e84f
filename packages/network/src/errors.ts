import {
  errorFactory,
  protocolErrors,
  RunnelError,
  type ErrorTable,
  type ProtocolErrorCode,
} from '@runnel/protocol'

/** Error and close codes of `@runnel/network`. */
export const networkErrors = {
  NOT_JOINED: {
    summary: 'The node has not joined the stream part',
    remedy: 'Join it first: a node carries only the stream parts that it has joined.',
  },
  STREAM_PART_FAILED: {
    summary: 'A fault stopped the stream part, which now restarts',
    remedy: 'Publish again. The log describes the fault: please report it.',
  },
  COUNT_UNAVAILABLE: {
    summary: 'The number of nodes in a stream part is not known here',
    remedy:
      'A light client has no tracker to ask: use a full client. A tracker of an earlier version cannot answer: ask its operator to upgrade it.',
  },
  NODE_NOT_RUNNING: {
    summary: 'The node is not running',
    remedy: 'Start it first. A stopped node cannot be started again.',
  },
  LINK_FAILED: {
    summary: 'No link to the node could be opened',
    remedy: 'It may be down, or unreachable from here. The cause says what was tried last.',
  },
  MISBEHAVED: {
    summary: 'The other side sent something that no correct node sends',
    remedy: 'It is broken or hostile. The link was closed, and is not reopened for a while.',
  },
  NOT_A_TRACKER: {
    summary: 'The peer that answered is not a tracker',
    remedy: 'Correct the address of the tracker where it is configured or registered.',
  },
  NOT_A_HOST: {
    summary: 'The node does not serve guests',
    remedy: 'Ask its operator to turn on guests (`guests: { serve: true }`), or name another node in `via`.',
  },
  HOST_FAILED: {
    summary: 'A host could not be reached, or its link ended',
    remedy:
      'Nothing to do: another host is used meanwhile, and this one is dialled again. If it keeps failing, correct its URL in `via`.',
  },
  HOST_REFUSED: {
    summary: 'A host does not serve this node in the stream part',
    remedy:
      'not-permitted: the user of the light client or of the host may not read it. full: name more hosts in `via`. The host is asked again after a pause.',
  },
  NODE_REPLACED: {
    summary: 'Another process with the same node key took the place of this node',
    remedy:
      'Stop one of the two, or give each its own node key: runnel key new FILE. If the other process is not yours, somebody else has the key.',
  },
  TRACKER_LOST: {
    summary: 'The connection to a tracker ended',
    remedy: 'Nothing to do: the tracker is dialled again, and overlays keep working meanwhile.',
  },
} as const satisfies ErrorTable

export type NetworkErrorCode = keyof typeof networkErrors
export const networkError = errorFactory(networkErrors)

/** Why a tracker may refuse who a node says it is, or its version. */
const refusals = /^(DELEGATION_\w+|NODE_NOT_LISTED|TOO_MANY_NODES_OF_USER|UNSUPPORTED_VERSION)$/

/** TRACKER_LOST because the tracker closed the connection and gave a reason. What to do about a refusal is told with it. */
export class TrackerClosedError extends RunnelError<'TRACKER_LOST'> {
  /** The code of the tracker's close: one of `trackerErrors`, `transportErrors` or `protocolErrors`. */
  readonly closeCode: string

  constructor(closeCode: string, text: string) {
    const { summary, remedy } = networkErrors.TRACKER_LOST
    const isRefusal = refusals.test(closeCode) && Object.hasOwn(protocolErrors, closeCode)
    super(
      'TRACKER_LOST',
      `${summary}: the tracker closed: ${closeCode} ${text}`,
      isRefusal ? protocolErrors[closeCode as ProtocolErrorCode].remedy : remedy,
    )
    this.closeCode = closeCode
  }
}
