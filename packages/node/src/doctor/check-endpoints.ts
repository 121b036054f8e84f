import type { NetworkSource } from '@runnel/client'
import { quorumOf, rpcSecrets, rpcUrlsOf } from '@runnel/contracts'
import { withProvider } from '../cli/with-chain.ts'
import { failure, failureOf, ok, type Finding } from './finding.ts'

/** How many blocks an endpoint may be behind another, as they are not asked at the same moment. */
const maxBlocksBehind = 5

/** What one endpoint answers. */
interface Answer {
  readonly shown: string
  readonly chainId: number
  readonly block: number
}

/** How each of several endpoints of the chain does; nothing where there is one only, of which the check of the chain says all. */
export async function checkEndpoints(network: Extract<NetworkSource, { kind: 'chain' }>): Promise<Finding[]> {
  const urls = rpcUrlsOf(network)
  if (urls.length === 1) return []
  const asked = await Promise.allSettled(urls.map(ask))
  const answers = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const chainId = network.chainId ?? answers[0]?.chainId ?? 0
  const newest = Math.max(0, ...answers.filter((one) => one.chainId === chainId).map(({ block }) => block))
  const findings = asked.map((one) =>
    one.status === 'fulfilled' ? judge(one.value, chainId, newest) : failureOf('endpoints', one.reason),
  )
  const fine = findings.filter(({ state }) => state === 'ok').length
  // The others are enough.
  if (fine < quorumOf(network)) return findings
  return findings.map((finding) => (finding.state === 'error' ? { ...finding, state: 'warning' } : finding))
}

const ask = (rpcUrl: string): Promise<Answer> =>
  withProvider({ rpcUrl }, async (provider, chainId) => {
    return { shown: rpcSecrets(rpcUrl).shown, chainId, block: await provider.getBlockNumber() }
  })

function judge({ shown, chainId, block }: Answer, wanted: number, newest: number): Finding {
  const other = `${shown} serves chain ${chainId}, not ${wanted}`
  if (chainId !== wanted) return failure('endpoints', other, 'Correct its URL in rpcUrl, or remove it.')
  const late = `${shown} is at block ${block}, others at ${newest}`
  if (newest - block > maxBlocksBehind)
    return failure('endpoints', late, 'Wait until it has caught up, or remove it from rpcUrl.')
  return ok('endpoints', `${shown} answers, at block ${block}`)
}
