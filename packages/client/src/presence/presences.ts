import type { Clock, NodeId, StreamId } from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { requireEitherPermission, type PermissionModules } from '../permission.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { SideParts } from '../side/side-part.ts'
import { presenceLimits } from './limits.ts'
import { OwnPresence, type Wanted } from './own-presence.ts'
import { Presence, sayPresence, type PresenceModules, type PresenceOptions } from './presence.ts'

export interface PresencesModules extends PermissionModules {
  readonly clock: Clock
  readonly nodeId: NodeId
  readonly sides: SideParts
  readonly isEncrypted: PresenceModules['isEncrypted']
}

const presenceOptions: OptionNames<PresenceOptions> = { as: true, signal: true }

/** The presences of one client, and the client as a member of streams. */
export class Presences {
  readonly #modules: PresencesModules
  readonly #open = new Set<Presence>()
  /** Kept, so that none says something too soon after another. */
  readonly #own = new Map<StreamId, OwnPresence>()

  constructor(modules: PresencesModules) {
    this.#modules = modules
  }

  async open(streamId: StreamId, options: PresenceOptions): Promise<Presence> {
    checkOptions('presence', options, presenceOptions)
    const { signal } = options
    throwIfAborted(signal)
    const stream = await requireEitherPermission(streamId, this.#modules)
    throwIfAborted(signal)
    const { sides } = this.#modules
    const side = sides.open(stream)
    const onAbort = () => presence.close()
    const presence: Presence = new Presence({
      ...{ ...this.#modules, side, own: this.#ownOf(stream) },
      onClosed: () => {
        signal?.removeEventListener('abort', onAbort)
        this.#open.delete(presence)
        sides.close(side)
      },
    })
    this.#open.add(presence)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      if (options.as !== undefined) await presence.enter(options.as)
    } catch (error) {
      presence.close()
      throw error
    }
    return presence
  }

  #ownOf(stream: StreamInfo): OwnPresence {
    const { sides, nodeId } = this.#modules
    const known = this.#own.get(stream.id)
    if (known !== undefined) return known
    const side = sides.open(stream)
    const say = (wanted: Wanted | undefined) => {
      sayPresence(side, nodeId, wanted)
      if (wanted === undefined) side.leave()
    }
    const own = new OwnPresence(presenceLimits, { ...this.#modules, say })
    this.#own.set(stream.id, own)
    return own
  }

  /** Says goodbye everywhere, and ends every iteration. */
  close(): void {
    for (const presence of [...this.#open]) presence.close()
  }
}
