import { isStreamPattern } from '@runnel/client/follow'
import { nodeError } from '../errors.ts'
import type { NodeAnswers } from './node-config.ts'

/** Asks the person at the terminal; what was given is offered. Throws INTERRUPTED. */
export async function askNodeAnswers(given: NodeAnswers): Promise<NodeAnswers> {
  const { confirm, input, number } = await import('@inquirer/prompts')
  const askPort = async (message: string, preset: number) =>
    (await number({ message, default: preset, min: 0, max: 65_535 })) ?? preset
  const network = await input({ message: 'Network file', default: given.network })
  const key = await input({ message: 'Key file (created if it does not exist)', default: given.key })
  const streams = await input({
    message: 'Streams to take part in: 0xowner/path or 0xowner/*, separated by commas (empty: none)',
    default: given.streams.join(','),
    validate: (text) => namesIn(text).every(isStreamPattern) || 'One of them is not a stream id',
  })
  const host = await input({
    message: 'Address to listen on (0.0.0.0: all addresses of this machine)',
    default: given.host,
  })
  const websocketPort = await askPort('Port for other nodes', given.websocketPort)
  const publicUrl = await input({
    message: 'URL by which others reach it, behind a proxy or a NAT (empty: its own address)',
    default: given.publicUrl,
    validate: (text) => text === '' || /^wss?:\/\/\S+$/.test(text) || 'It must begin with ws:// or wss://',
  })
  const httpPort = await askPort('Port for health, metrics and status', given.httpPort)
  const storage = await confirm({
    message: 'Store the streams assigned to it (storage node)?',
    default: given.storage,
  })
  if (!(await confirm({ message: 'Write it?' }))) throw nodeError('INTERRUPTED', 'nothing was written')
  return { network, key, streams: namesIn(streams), host, publicUrl, websocketPort, httpPort, storage }
}

function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '')
}
