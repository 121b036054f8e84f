import type { StreamMessage } from '@runnel/protocol'

/** A message as it came, and what it was before it was sealed, or why that cannot be known. */
export type Opened = { readonly message: StreamMessage } & (
  { readonly opened: StreamMessage } | { readonly error: unknown }
)

/** Messages already opened, or being opened, ahead of the one whose turn it is. */
const maxAhead = 32

/**
 * Opens several messages at a time and gives them in order. A message that takes time is given as a promise, which never rejects.
 */
export function* openAhead(
  messages: readonly StreamMessage[],
  open: (message: StreamMessage) => StreamMessage | Promise<StreamMessage>,
): Generator<Opened | Promise<Opened>, void, undefined> {
  const ahead: (Opened | Promise<Opened>)[] = []
  for (const message of messages) {
    ahead.push(openOne(message, open))
    if (ahead.length >= maxAhead) yield* ahead.splice(0, 1)
  }
  yield* ahead
}

function openOne(
  message: StreamMessage,
  open: (message: StreamMessage) => StreamMessage | Promise<StreamMessage>,
): Opened | Promise<Opened> {
  try {
    const opened = open(message)
    if (!(opened instanceof Promise)) return { message, opened }
    return opened.then(
      (then) => ({ message, opened: then }),
      (error: unknown) => ({ message, error }),
    )
  } catch (error) {
    return { message, error }
  }
}
