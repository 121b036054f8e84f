import type { RunnelClient } from '@runnel/client'
import type { Clock, Random } from '@runnel/protocol'
import { mistakeInMember } from '../catalogue/catalogue.ts'
import type { OptionNames } from '../options.ts'

export interface MediaSessionOptions {
  /** The name that others see: up to 40 characters. */
  readonly name: string
  /** Video codecs that it decodes, as WebCodecs names them. Default: none. */
  readonly decodes?: readonly string[] | undefined
  /** The `id` of an earlier session of the same user that is over, such as that of a reloaded page; the others drop it at once. */
  readonly replaces?: string | undefined
  /**
   * The rate that all tracks together may take from now on, in bits a second, including what messages take. Default: what the
   * network carries, as `client.urgentRate` reports it.
   */
  readonly rate?: AsyncIterable<number> | undefined
  /**
   * Who reads the stream. `'members'`: nobody but members and recorders that may publish in it, so all who read say what they read, and
   * renditions above the lowest that nobody reads are not published. Default: `'anybody'`, also who may not publish and so is not heard; all are
   * published.
   */
  readonly readers?: 'anybody' | 'members' | undefined
}

export interface MediaSessionModules {
  readonly client: Pick<RunnelClient, 'publish' | 'prepare' | 'subscribe' | 'getStream' | 'urgentRate'>
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /** False while timers are late for reasons other than work, such as in pages that nobody sees. Default: never. */
  readonly isTimely?: (() => boolean) | undefined
}

export const sessionOptions: OptionNames<MediaSessionOptions> = {
  name: true,
  decodes: true,
  replaces: true,
  rate: true,
  readers: true,
}

/** What is wrong with them; undefined for nothing. */
export function mistakeInSession(options: MediaSessionOptions): string | undefined {
  const { name, decodes = [], replaces, rate, readers = 'anybody' } = options
  if (rate !== undefined && !isIterable(rate)) return 'rate must be an async iterable of numbers'
  if (!['anybody', 'members'].includes(readers)) return "readers must be 'anybody' or 'members'"
  return mistakeInMember({ name, decodes, replaces })
}

/** As `mistakeInSession`. */
export const mistakeInModules = (modules: unknown): string | undefined =>
  (Object(modules) as Partial<MediaSessionModules>).client === undefined
    ? 'its third argument must be { client }'
    : undefined

/** Also one that is not async, which is as good for a loop that waits. */
function isIterable(given: unknown): boolean {
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = Object(given) as Record<symbol, unknown>
  return typeof later === 'function' || typeof now === 'function'
}
