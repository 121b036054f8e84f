import type { NodeFault } from '@runnel/network'
import type { Logger } from './logger.ts'

/** Is told of every fault: an error in this build that ended the work it was thrown in, and nothing else. */
export class Faults {
  /** Besides the log. */
  onFault: (fault: NodeFault) => void = () => {}
  readonly #logger: Logger

  constructor(modules: { readonly logger: Logger }) {
    this.#logger = modules.logger
  }

  report(fault: NodeFault): void {
    const { error, streamPartId, peerId } = fault
    this.#logger.error({ streamPartId, peerId, err: error }, 'a fault, which ended this work and no other')
    this.onFault(fault)
  }
}
