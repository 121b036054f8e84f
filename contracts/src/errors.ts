/** What an error code means and what its reader can do about it. */
export interface ContractsErrorEntry {
  /** What happened, one sentence. */
  readonly summary: string
  /** What to do, one sentence. */
  readonly remedy: string
}

/** Error codes of `@runnel/contracts`. */
export const contractsErrors = {
  CHAIN_BINARY_MISSING: {
    summary: 'The embedded chain is not installed',
    remedy:
      'Install it with: npm install @foundry-rs/anvil@1.7.1, without --omit=optional, because its binaries are optional packages.',
  },
  CHAIN_PORT_TAKEN: {
    summary: 'The address of the embedded chain is in use',
    remedy: 'Stop the process that listens there, or choose another port. 0 picks a free one.',
  },
  CHAIN_START_FAILED: {
    summary: 'The embedded chain did not start',
    remedy: 'Read its output, and check the host and the state file.',
  },
  CHAIN_DIED: {
    summary: 'The embedded chain ended unexpectedly',
    remedy: 'Start it again. With a state file, it continues from the saved state.',
  },
  CHAIN_ABORTED: {
    summary: 'The start of the embedded chain was aborted',
    remedy: 'Nothing to do: the caller asked for it.',
  },
  DEPLOY_FAILED: {
    summary: 'The registries could not be deployed',
    remedy:
      'Check that the chain answers, and that the deploying account has funds: on a development chain it gets some with runnel chain fund.',
  },
} as const satisfies Readonly<Record<string, ContractsErrorEntry>>

/** One of the codes of `contractsErrors`. */
export type ContractsErrorCode = keyof typeof contractsErrors

/** The one error class of this package. `code` is stable and meant for programs, `message` and `remedy` for people. */
export class ContractsError extends Error {
  override readonly name = 'ContractsError'
  readonly code: ContractsErrorCode
  readonly remedy: string

  constructor(code: ContractsErrorCode, detail?: string, options?: { cause?: unknown }) {
    const { summary, remedy } = contractsErrors[code]
    super(detail ? `${summary}: ${detail}` : summary, options)
    this.code = code
    this.remedy = remedy
  }
}
