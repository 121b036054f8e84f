import {
  limits,
  urgentChainPrefix,
  urgentExtensionOf,
  urgentOrders,
  type Extension,
  type UrgentFields,
  type UrgentOrder,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'

/**
 * For a message that is worthless when late, such as sound, a picture or a position: it goes before all others, may be lost, and is neither
 * stored nor fetched. `publish` returns at once, and messages are delivered in the order of arrival.
 */
export interface UrgentOptions {
  /** How long the message is of use, from here to the last subscriber: 1 to 60,000 ms. A node that has it longer drops it. Default: 1,000. */
  readonly lifetimeMs?: number | undefined
  /** 0 goes first, 255 last; values below 64 are for small flows, such as sound. Default: 128. */
  readonly priority?: number | undefined
  /**
   * Which messages belong together, such as a picture and the pictures that build on it: a number that grows. Default: each message is alone.
   */
  readonly group?: number | undefined
  /** The message's number in the group, from 0. Default: 0. */
  readonly object?: number | undefined
  /**
   * Which of the groups that wait for a link goes first: the oldest (default), the newest, or only the newest, so that object 0 of a group
   * replaces older groups.
   */
  readonly order?: UrgentOrder | undefined
}

const urgentOptions: OptionNames<UrgentOptions> = {
  ...{ lifetimeMs: true, priority: true, group: true, object: true, order: true },
}

/** The chain of a client's urgent messages, beside that of all others. */
export const urgentChainId = (messageChainId: string): string => `${urgentChainPrefix}${messageChainId}`

/** Makes the extension of each urgent message of a client. */
export class UrgentNumbers {
  #nextGroup = 0

  /** Throws INVALID_ARGUMENT. */
  extension(given: true | UrgentOptions): Extension {
    const options = given === true ? {} : given
    checkOptions('publish: urgent', options, urgentOptions)
    const { lifetimeMs = 1_000, priority = 128, group, object = 0, order = 'oldest' } = options
    if (group === undefined && object !== 0)
      throw clientError('INVALID_ARGUMENT', 'urgent: an object goes with its group')
    const fields = { lifetimeMs, priority, group: group ?? this.#nextGroup, object, order }
    checkFields(fields)
    if (group === undefined) this.#nextGroup = (this.#nextGroup + 1) >>> 0
    return urgentExtensionOf(fields)
  }
}

function checkFields({ order, lifetimeMs, ...numbers }: UrgentFields): void {
  if (!urgentOrders.includes(order))
    throw clientError('INVALID_ARGUMENT', `urgent: order is one of ${urgentOrders.join(', ')}`)
  requireWhole('lifetimeMs', lifetimeMs, 1, limits.maxUrgentLifetimeMs)
  requireWhole('priority', numbers.priority, 0, 255)
  requireWhole('group', numbers.group, 0, 0xffff_ffff)
  requireWhole('object', numbers.object, 0, 0xffff_ffff)
}

function requireWhole(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw clientError('INVALID_ARGUMENT', `urgent: ${name} is a whole number from ${min} to ${max}`)
}
