import type { StreamId, StreamMessage } from '@runnel/protocol'
import { checkOptions } from '../options.ts'
import { requirePermission } from '../permission.ts'
import { countStream, type CountModules, type CountOptions, type StreamCount } from '../presence/count.ts'
import { Presences, type PresencesModules } from '../presence/presences.ts'
import { Readers, type ReadersModules } from '../reader/readers.ts'
import { Requester, type RequesterModules } from '../request/requester.ts'
import {
  Responder,
  respondOptions,
  type RequestHandler,
  type ResponderModules,
  type Responding,
  type RespondOptions,
} from '../request/responder.ts'
import { SideParts, type SidePartModules } from './side-part.ts'

export type SideServicesModules = SidePartModules &
  CountModules &
  Omit<PresencesModules, 'sides'> &
  Omit<RequesterModules, 'sides' | 'responds'> &
  Omit<ResponderModules, 'sides'> &
  Omit<ReadersModules, 'sides'>

/** What goes beside the messages of streams. A page loads it when it first uses some of it. */
export class SideServices {
  readonly parts: SideParts
  readonly presences: Presences
  readonly requester: Requester
  readonly readers: Readers
  readonly #responder: Responder
  readonly #modules: SideServicesModules

  constructor(modules: SideServicesModules) {
    this.#modules = modules
    const sides = new SideParts(modules)
    const responder = new Responder({ ...modules, sides })
    this.parts = sides
    this.presences = new Presences({ ...modules, sides })
    this.requester = new Requester({ ...modules, sides, responds: (streamId) => responder.isIn(streamId) })
    this.readers = new Readers({ ...modules, sides })
    this.#responder = responder
  }

  /** Answers requests; throws what subscribing throws. */
  async respond(streamId: StreamId, handler: RequestHandler, options: RespondOptions): Promise<Responding> {
    checkOptions('respond', options, respondOptions)
    const stream = await requirePermission('subscribe', streamId, this.#modules)
    return this.#responder.respond(stream, handler, options)
  }

  /** How many nodes are in a stream. */
  count(streamId: StreamId, options: CountOptions): Promise<StreamCount> {
    return countStream(streamId, options, this.#modules)
  }

  /** A message came. */
  receive(message: StreamMessage): void {
    this.parts.receive(message)
  }
}
