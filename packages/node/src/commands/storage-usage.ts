import type { UsageReport } from '@runnel/storage/http'
import Table from 'cli-table3'
import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { plainLayout } from '../cli/plain-layout.ts'
import { printable } from '../cli/printable.ts'
import { nodeError } from '../errors.ts'

/** How long the node may take: it adds up what is in its store. */
const answerTimeoutMs = 60_000

export const storageUsage = defineCommand({
  name: 'storage usage',
  describe: 'Print whose streams a storage node keeps, how much space they take, and its limits',
  positionals: { url: { describe: 'HTTP address of the storage node. Default: http://127.0.0.1:7171' } },
  options: {},
  examples: [
    ['storage usage', 'A line for each stream; the largest owners first'],
    ['storage usage http://127.0.0.1:7171 --json', 'The same, as JSON'],
  ],
  epilogue:
    'Shares are percentages of all bytes stored. When the disk limit is reached, the owner with the most bytes loses its oldest messages. When there are too many stream parts, that owner loses those assigned last. storage.owners in the configuration says whose streams the node accepts.',
  run: async ({ url = 'http://127.0.0.1:7171', json }) => {
    if (!/^https?:\/\/\S+$/.test(url)) throw nodeError('USAGE', `"${url}" is not an http:// or https:// URL`)
    const report = await readUsage(url)
    printResult(report, json, linesOf(report))
  },
})

async function readUsage(url: string): Promise<UsageReport> {
  try {
    const signal = AbortSignal.timeout(answerTimeoutMs)
    const answer = await fetch(new URL('/v1/storage/usage', url), { signal })
    if (!answer.ok) throw new Error(`it answered ${answer.status}`)
    return (await answer.json()) as UsageReport
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw nodeError('STORAGE_UNREACHABLE', `${url}: ${reason}`, { cause })
  }
}

function linesOf({ owners, bytes, keptParts, limits, allow, deny }: UsageReport): string[] {
  const head = ['owner', 'stream', 'parts', 'messages', 'bytes', 'share']
  const table = new Table({ ...plainLayout, head })
  for (const { owner, share, streams } of owners) {
    for (const [index, { streamId, keptParts, messages, bytes }] of streams.entries()) {
      const ofOwner = index === 0 ? [owner, `${(share * 100).toFixed(1)} %`] : ['', '']
      table.push([ofOwner[0] ?? '', printable(streamId), keptParts, messages, bytes, ofOwner[1] ?? ''])
    }
  }
  const lists = [
    ...(allow.length > 0 ? [`only owners ${allow.join(', ')}`] : []),
    ...(deny.length > 0 ? [`no owners ${deny.join(', ')}`] : []),
  ]
  return [
    ...table.toString().replace(/ +$/gm, '').split('\n'),
    `${bytes} of ${limits.maxBytes} bytes, at most ${limits.maxBytesPerStream} a stream`,
    `${keptParts} of ${limits.maxStreamParts} stream parts`,
    `${limits.evictedBytes} bytes were deleted to make room since the node started`,
    ...lists,
  ]
}
