import type { BrowserContext, Page } from 'playwright-core'

/** An account of a chain that signs for itself, as a test chain does. */
export interface InjectedAccount {
  readonly rpcUrl: string
  readonly address: string
}

export interface WalletAnswers {
  /** What its user refuses: an account, a transaction, or a text to sign, by its type. */
  readonly refuses?: RegExp
}

/** The wallet of pages: `window.ethereum`, whose accounts are the chain's own, and whose user says yes, unless told otherwise. */
export const injectWallet =
  ({ rpcUrl, address }: InjectedAccount, { refuses = /^$/ }: WalletAnswers = {}) =>
  async (page: Page): Promise<void> => {
    await page.addInitScript(
      ([rpcUrl, account, refuses]) => {
        const ask = async (method: string, params: unknown): Promise<unknown> => {
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
          const headers = { 'content-type': 'application/json' }
          const response = await fetch(rpcUrl, { method: 'POST', headers, body })
          const { result, error } = (await response.json()) as { result: unknown; error?: unknown }
          if (error !== undefined) throw error
          return result
        }
        const { walletAsked } = globalThis as { walletAsked?: (what: string) => unknown }
        const request = ({
          method,
          params = [],
        }: {
          method: string
          params?: unknown[]
        }): Promise<unknown> => {
          const what =
            method === 'eth_signTypedData_v4'
              ? (JSON.parse(String(params[1])) as { primaryType: string }).primaryType
              : method
          walletAsked?.(what)
          if (new RegExp(refuses).test(what))
            return Promise.reject(Object.assign(new Error('the user said no'), { code: 4001 }))
          return /Accounts$|_accounts$/.test(method) ? Promise.resolve([account]) : ask(method, params)
        }
        Object.assign(globalThis, { ethereum: { request } })
      },
      [rpcUrl, address, refuses.source] as const,
    )
  }

/** What the wallets of a context are asked to sign or send from now on: the type of a text, or the method. */
export async function askedOf(context: BrowserContext): Promise<readonly string[]> {
  const asked: string[] = []
  await context.exposeFunction('walletAsked', (what: string) => {
    if (!/^eth_(?!send)|^wallet_/.test(what)) asked.push(what)
  })
  return asked
}
