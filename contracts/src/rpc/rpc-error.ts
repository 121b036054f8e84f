/** Why a chain gave no answer, or took no transaction; as the clients' own errors. */
export type RpcErrorCode =
  /** All that answer have older blocks than were seen. */
  | 'CHAIN_UNREACHABLE'
  /** They answered, and too few of them the same. */
  | 'CHAIN_DISPUTED'
  /** Each that answers serves another chain than is wanted. */
  | 'CHAIN_MISMATCH'
  /** More are to agree than there are. */
  | 'INVALID_CONFIG'
  /** It was sent, and is not mined in time. */
  | 'TRANSACTION_UNCONFIRMED'
  /** It was mined, and had no effect. */
  | 'TRANSACTION_FAILED'

/** What the endpoints of a chain could not agree on, or answer. Its message names them without secrets. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: RpcErrorCode

  constructor(code: RpcErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
