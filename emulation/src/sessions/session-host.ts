/** Where a machine's processes run: this one, or a namespace. */
export interface SessionHost {
  /** That it listens on. */
  readonly address: string
  /** A command that runs a command there. */
  within(command: readonly string[]): readonly string[]
}

export const thisHost: SessionHost = { address: '127.0.0.1', within: (command) => command }
