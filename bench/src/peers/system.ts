/** Of each message, before what a system adds. */
export const contentBytes = 100

/** A system under test, started: all its nodes are in this process, the first one publishes and the others subscribe. */
export interface System {
  /** Publishes so many messages, numbered from `first`; resolves when more may come. */
  publish(first: number, count: number): void | Promise<void>
  /** Copies that nodes got again, so far. Absent where the system does not say. */
  duplicates?(): number
  /** CPU of its servers in other processes, so far. Absent where there are none. */
  serverCpuUs?(): number
  /** Starts one more subscriber, which calls back on each message. Absent where nodes cannot join. Resolves with its end. */
  join?(onMessage: () => void): Promise<() => unknown>
  stop(): unknown
}

export interface StartOptions {
  readonly nodes: number
  /** Where the system was installed. */
  readonly directory: string
  /** What sets this run of the system apart from others. */
  readonly variant: Variant
}

export type Variant = Readonly<Record<string, string | number | boolean>>

/** Starts a system; resolves when its overlay is settled. Calls back on each message at each subscriber. */
export type StartSystem = (options: StartOptions, onDelivery: (number: number) => void) => Promise<System>

/** The content of a message: its number in the first four bytes. */
export function contentOf(number: number): Uint8Array {
  const content = new Uint8Array(contentBytes)
  new DataView(content.buffer).setUint32(0, number)
  return content
}

export function numberOf(content: Uint8Array): number {
  return new DataView(content.buffer, content.byteOffset).getUint32(0)
}

/** Text of as many characters, for systems that carry text. */
export const textOf = (number: number): string => `${number} `.padEnd(contentBytes, '.')

export const numberOfText = (text: string): number => Number.parseInt(text, 10)

/** Waits until it is so, for `limitMs` at most. */
export async function until(isSo: () => boolean, what: string, limitMs = 30_000): Promise<void> {
  const endMs = performance.now() + limitMs
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`${what} took more than ${limitMs / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
