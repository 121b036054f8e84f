import { untilMined, type SentTransaction } from '@runnel/contracts'
import { isRunnelError, toNodeId } from '@runnel/protocol'
import { isError, type AbstractSigner, type ContractTransactionResponse } from '@runnel/contracts/ethers'
import { clientError } from '../../errors.ts'
import type { ChainConnection } from './chain-connection.ts'

/** With which a transaction is made. */
export interface Nonce {
  readonly nonce: number
}

/** How often a transaction is made anew because another process of the account took its nonce. */
const maxNonceConflicts = 5

/**
 * Sends the transactions of one account. They are sent one after the other, each with the next nonce, and waited for
 * side by side; one that is refused before it is sent uses up no nonce. Where another process of the account took the nonce, it is
 * made anew with the next one, and checked against what the other one changed, if that is mined.
 */
export class TransactionSender {
  readonly #signer: AbstractSigner
  readonly #connection: ChainConnection
  #sending: Promise<unknown> = Promise.resolve()
  #unconfirmed = 0
  #nextNonce = 0

  constructor(signer: AbstractSigner, connection: ChainConnection) {
    this.#signer = signer
    this.#connection = connection
  }

  /** Resolves when the transaction is mined. */
  async send(start: (overrides: Nonce) => Promise<ContractTransactionResponse>): Promise<void> {
    const sent = this.#sending.then(() => this.#sendNow(start))
    this.#sending = sent.catch(() => {})
    const transaction = await sent
    this.#unconfirmed++
    try {
      await this.#mined(transaction)
    } finally {
      this.#unconfirmed--
    }
  }

  #mined(transaction: SentTransaction): Promise<void> {
    const connection = this.#connection
    const ask = () => connection.call(() => connection.provider.getTransactionReceipt(transaction.hash))
    const isFinal = (error: unknown) => isRunnelError(error, 'CLIENT_CLOSED')
    return connection.call(() => untilMined(transaction, ask, isFinal))
  }

  #sendNow(start: (overrides: Nonce) => Promise<ContractTransactionResponse>) {
    return this.#connection.call(async () => {
      let leastNonce = 0
      for (let conflicts = 0; ; conflicts++) {
        const known = await this.#signer.getNonce('pending')
        // An endpoint may not know yet of a transaction sent a moment ago; with none pending, its count is right.
        const nonce = Math.max(known, leastNonce, this.#unconfirmed > 0 ? this.#nextNonce : 0)
        try {
          const transaction = await start({ nonce })
          this.#nextNonce = nonce + 1
          return transaction
        } catch (error) {
          const cause = this.#connection.secrets.scrubError(error)
          if (isError(error, 'INSUFFICIENT_FUNDS'))
            throw clientError('INSUFFICIENT_FUNDS', toNodeId(await this.#signer.getAddress()), { cause })
          if (!isNonceTaken(error)) throw error
          if (conflicts === maxNonceConflicts) throw clientError('ACCOUNT_BUSY', undefined, { cause })
          // The endpoint may not count the other one before it is mined.
          leastNonce = nonce + 1
        }
      }
    })
  }
}

/** What endpoints say of the very transaction that another process of the account sent, as both want the same; ethers has no code for it. */
const sentAlready = /already (known|imported)/i

/** Whether another transaction of the account with the same nonce came first, mined or not; this one was not taken. */
function isNonceTaken(error: unknown): boolean {
  if (isError(error, 'NONCE_EXPIRED') || isError(error, 'REPLACEMENT_UNDERPRICED')) return true
  return error instanceof Error && sentAlready.test(error.message)
}
