import { afterAll, beforeAll } from 'vitest'
import { startTestChain, type TestChain } from '../registry/chain.testkit.ts'
import { keySigner } from './key-signer.ts'
import { remoteSigner } from './remote-signer.ts'
import {
  describeSigner,
  type DistantSignerUnderTest,
  type SignerUnderTest,
} from './signer-conformance.testkit.ts'
import { walletSigner } from './wallet-signer.ts'
import { testWallet } from './wallet.testkit.ts'
import { startTestWeb3Signer, type TestWeb3Signer } from './web3signer.testkit.ts'

let chain: TestChain
let server: TestWeb3Signer
beforeAll(async () => {
  chain = await startTestChain()
  server = await startTestWeb3Signer([chain.accounts[1].wallet], 31337)
})
afterAll(async () => {
  await server.stop()
  await chain.stop()
})

describeSigner(
  { name: 'key signer', start: () => ({ signer: keySigner(chain.accounts[1].privateKey) }) },
  () => chain,
)

/** The chain's own node has the keys, and signs what a wallet would. */
function nodeAsWallet(): SignerUnderTest {
  const { provider, accounts } = chain
  return {
    signer: walletSigner({
      async request({ method, params = [] }) {
        if (method === 'eth_requestAccounts') return [accounts[1].wallet.address]
        return provider.send(method, params as unknown[])
      },
    }),
  }
}

describeSigner({ name: 'wallet signer of a real node', start: nodeAsWallet }, () => chain)

function startWallet(): DistantSignerUnderTest {
  const wallet = testWallet(chain.accounts[1].wallet, 31337)
  return {
    signer: walletSigner(wallet),
    refuse: (refuses) => void (wallet.refuses = refuses),
    hold: (until) => void (wallet.until = until),
    moveToChain(chainId) {
      wallet.chainId = chainId
      wallet.knownChains.length = 0
    },
  }
}

describeSigner(
  {
    name: 'wallet signer',
    start: startWallet,
    distant: { start: startWallet, refusal: 'WALLET_REFUSED' },
  },
  () => chain,
)

function startRemote(): DistantSignerUnderTest {
  Object.assign(server, { chainId: 31337, token: undefined, instead: undefined })
  return {
    signer: remoteSigner({ url: server.url }),
    refuse: (refuses) => void (server.token = refuses ? 'another' : undefined),
    hold: (until) => void (server.instead = (response) => void until.then(() => response.end('{}'))),
    moveToChain: (chainId) => void (server.chainId = chainId),
  }
}

describeSigner(
  {
    name: 'remote signer',
    start: startRemote,
    distant: { start: startRemote, refusal: 'SIGNER_REFUSED' },
  },
  () => chain,
)
