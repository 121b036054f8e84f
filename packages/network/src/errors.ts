import { errorFactory, RunnelError, type ErrorTable } from '@runnel/protocol'

/** Error and close codes of `@runnel/network`. */
export const networkErrors = {
  NOT_JOINED: {
    summary: 'The stream part is not joined',
    remedy: 'Join it first: a node carries only what it joined.',
  },
  STREAM_PART_FAILED: {
    summary: 'A fault ended the work of the stream part, which begins anew',
    remedy: 'Publish again; the log says what the fault was: report it.',
  },
  COUNT_UNAVAILABLE: {
    summary: 'How many nodes are in a stream part is not known here',
    remedy:
      'A light client has no tracker to ask: use a full one. A tracker of an earlier version does not say: have its operator upgrade it.',
  },
  NODE_NOT_RUNNING: {
    summary: 'The node does not run',
    remedy: 'Start it first; once stopped it cannot be started again.',
  },
  LINK_FAILED: {
    summary: 'No link to the node could be opened',
    remedy: 'It may be down or unreachable from here; the cause says what was tried last.',
  },
  MISBEHAVED: {
    summary: 'The other side sent what no correct node sends',
    remedy: 'It is broken or hostile; the link was closed and is not opened again for a while.',
  },
  NOT_A_TRACKER: {
    summary: 'The peer that answered is not a tracker',
    remedy: 'Correct the address of the tracker where it is configured or registered.',
  },
  NOT_A_HOST: {
    summary: 'The node serves no guests',
    remedy: 'Have its operator turn on guests (`guests: { serve: true }`), or name another node in `via`.',
  },
  HOST_FAILED: {
    summary: 'A host could not be reached, or its link ended',
    remedy:
      'Nothing: another is used meanwhile, and it is dialled again. If it stays so, correct its URL in `via`.',
  },
  HOST_REFUSED: {
    summary: 'A host does not serve this node in the stream part',
    remedy:
      'not-permitted: the user of the light client or of the host may not read it. full: name more hosts in `via`. It is asked again after a pause.',
  },
  NODE_REPLACED: {
    summary: 'Another process with the key of this node took its place in the network',
    remedy:
      'Stop one of the two, or give each a node key of its own: runnel key new FILE. If the other is not yours, somebody has the key.',
  },
  TRACKER_LOST: {
    summary: 'The connection to a tracker ended',
    remedy: 'Nothing: it is dialled again, and overlays go on meanwhile.',
  },
} as const satisfies ErrorTable

export type NetworkErrorCode = keyof typeof networkErrors
export const networkError = errorFactory(networkErrors)

/** TRACKER_LOST because the tracker closed the connection and gave a reason. */
export class TrackerClosedError extends RunnelError<'TRACKER_LOST'> {
  /** The code of the tracker's close: one of `trackerErrors`, or of `transportErrors`. */
  readonly closeCode: string

  constructor(closeCode: string, text: string) {
    const { summary, remedy } = networkErrors.TRACKER_LOST
    super('TRACKER_LOST', `${summary}: the tracker closed: ${closeCode} ${text}`, remedy)
    this.closeCode = closeCode
  }
}
