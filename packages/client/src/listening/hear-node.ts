import type { NetworkNode } from '@runnel/network'
import { asError, clientError } from '../errors.ts'
import type { Encryption } from '../encryption/encryption.ts'
import type { Faults } from '../faults.ts'
import type { Gate } from '../gate.ts'
import { toMessagesWithheld } from '../light/host-messages.ts'
import type { Logger } from '../logger.ts'
import type { Phases } from '../phases.ts'
import type { StatusHub } from '../status.ts'
import type { StreamParts } from '../stream-parts.ts'

export interface NodeHearers {
  readonly gate: Pick<Gate, 'replaced'>
  readonly parts: Pick<StreamParts, 'neighboursChanged'>
  readonly encryption: Pick<Encryption, 'neighboursChanged'>
  readonly phases: Phases
  readonly faults: Faults
  readonly logger: Logger
  readonly status: Pick<StatusHub, 'emit'>
}

/** Hears how the node does among others, and tells of it. */
export function hearNode(
  node: Pick<NetworkNode, 'on' | 'nodeId'>,
  { gate, parts, encryption, phases, faults, logger, status }: NodeHearers,
): void {
  phases.onReached = (phase, afterMs) => status.emit({ type: 'phase', phase, afterMs })
  node.on('neighbours', (streamPartId, neighbours) => {
    if (neighbours.length > 0) phases.reach('neighbour')
    parts.neighboursChanged(streamPartId, neighbours)
    encryption.neighboursChanged(streamPartId, neighbours)
    status.emit({ type: 'neighbours', streamPartId, neighbours })
  })
  node.on('host', ({ url, nodeId, state, error }) => {
    const isWell = state === 'connected'
    logger[isWell ? 'info' : 'warn']({ url, nodeId, state, code: error?.code }, error?.message ?? 'host')
    status.emit({ type: 'host', url, nodeId, state, error })
  })
  node.on('withheld', (withheld) => {
    const { streamPartId, hostId, messages, deliveredBy } = withheld
    logger.warn(
      { streamPartId, hostId, messages, deliveredBy },
      'a host did not bring messages that others did',
    )
    status.emit({ type: 'withheld', ...toMessagesWithheld(withheld) })
  })
  node.on('replaced', (error) => {
    gate.replaced(error)
    logger.error({ nodeId: node.nodeId, code: error.code }, `${error.message}. ${error.remedy}`)
    status.emit({ type: 'replaced', error })
  })
  node.on('tracker', (trackerId, state, error) => {
    logger.info({ trackerId, state, code: error?.code }, 'tracker')
    if (state === 'connected') phases.reach('tracker')
    status.emit({ type: 'tracker', trackerId, state, ...(error === undefined ? {} : { error }) })
  })
  node.on('dropped', (counter, detail) => {
    if (counter !== 'data.timestampAhead' && counter !== 'data.tooOld')
      return status.emit({ type: 'dropped', counter, detail })
    status.emit({
      type: 'dropped',
      counter,
      detail,
      // Made where it is read: any neighbour can have many dropped.
      get error() {
        return clientError('TIMESTAMP_REFUSED', detail)
      },
    })
  })
  faults.onFault = ({ error, ...where }) => status.emit({ type: 'fault', ...where, error: asError(error) })
  node.on('fault', (fault) => faults.report(fault))
}
