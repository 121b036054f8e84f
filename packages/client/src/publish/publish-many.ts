import type { StreamId } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { PublishedMessage } from './part-outbox.ts'
import type { Publisher, PublishOptions } from './publisher.ts'

/** The options of a single message; `key` may be a function of the content. */
export type PublishManyOptions<T = unknown> = Omit<PublishOptions, 'timestamp' | 'key'> & {
  readonly key?: string | ((content: T) => string | undefined) | undefined
}

/** How many messages were published. */
export interface PublishedMany {
  readonly messages: number
  /** How many of them had no neighbour to go to: only nodes that join soon get them. */
  readonly alone: number
  /** The last message; undefined if there was none. */
  readonly last: PublishedMessage | undefined
}

/** Where they go. */
interface PublishManyTo<T> extends Pick<PublishManyOptions<T>, 'key'> {
  readonly streamId: StreamId
  readonly options: Omit<PublishManyOptions, 'key'>
}

/** Messages published but not yet sent: enough for full batches, and few enough that the first leave soon. */
const maxUnderWay = 4_096

/**
 * Publishes all contents in order, as fast as they can be sent. The first that is refused ends it: those before are published, those
 * under way may be, and its error is thrown when none is under way any more. Throws INVALID_ARGUMENT for contents that cannot be iterated, and
 * for a text, which would be published letter by letter.
 */
export async function publishMany<T>(
  contents: Iterable<T> | AsyncIterable<T>,
  { streamId, key, options }: PublishManyTo<T>,
  publisher: Pick<Publisher, 'publish' | 'room'>,
): Promise<PublishedMany> {
  if (!isIterable(contents))
    throw clientError(
      'INVALID_ARGUMENT',
      'the contents are an iterable, such as an array, or an asynchronous one',
    )
  const publish = (content: T, ofKey: string | undefined) =>
    publisher.publish(streamId, content, { ...options, key: ofKey })
  // What the function throws is as what is refused.
  const publishOne =
    typeof key === 'function'
      ? async (content: T) => publish(content, key(content))
      : (content: T) => publish(content, key)
  const result = { messages: 0, alone: 0, last: undefined as PublishedMessage | undefined }
  let failure: { readonly error: unknown } | undefined
  let underWay = 0
  let awaited = { count: -1, reached: () => {} }
  const downTo = (count: number) =>
    underWay <= count ? undefined : new Promise<void>((reached) => (awaited = { count, reached }))
  const ended = () => {
    if (--underWay === awaited.count) awaited.reached()
  }
  for await (const content of contents) {
    underWay++
    publishOne(content).then(
      (published) => {
        result.messages++
        if (published.neighbours === 0) result.alone++
        result.last = published
        ended()
      },
      (error: unknown) => {
        failure ??= { error }
        ended()
      },
    )
    if (underWay >= maxUnderWay) await downTo(maxUnderWay / 2)
    await publisher.room()
    if (failure !== undefined) break
  }
  await downTo(0)
  if (failure !== undefined) throw failure.error
  return result
}

function isIterable(contents: unknown): boolean {
  if (typeof contents !== 'object' || contents === null) return false
  return Symbol.iterator in contents || Symbol.asyncIterator in contents
}
