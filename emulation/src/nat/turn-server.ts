import { randomBytes } from 'node:crypto'
import { execFileSync, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { untilAborted } from '@runnel/protocol'
import { emulationError } from '../errors.ts'

const port = 3478
/** As where nothing else gets out. */
const tlsPort = 443

/** Where coturn runs. */
export interface TurnPlace {
  readonly address: string
  /** For its files. */
  readonly directory: string
  /** Starts a program there, which ends with the place. */
  spawn(command: string, args: readonly string[], stdio: StdioOptions): ChildProcess
}

export interface TurnServer {
  readonly stunUrl: string
  /** By how it is reached. */
  readonly turnUrls: Readonly<Record<'udp' | 'tcp' | 'tls', string>>
  /** File with the secret that trackers make credentials from. */
  readonly secretFile: string
  /** Of TLS, to be trusted. */
  readonly certificate: string
  readonly version: string
  readonly pid: number | undefined
}

/** For the address, signed by itself. Throws PROCESS_FAILED. */
function makeCertificate(address: string, file: string, keyFile: string): void {
  const subject = ['-subj', `/CN=${address}`, '-addext', `subjectAltName=IP:${address}`]
  const kind = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ]
  try {
    execFileSync('openssl', [...kind, '-keyout', keyFile, '-out', file, ...subject], { stdio: 'ignore' })
  } catch (cause) {
    throw emulationError('PROCESS_FAILED', 'openssl made no certificate for coturn', { cause })
  }
}

/**
 * Starts coturn: STUN for all, TURN for users with credentials made from the secret. It ends with the place. Rejects with PROCESS_FAILED
 * when it does not start, and with whatever the signal aborts with.
 */
export async function startTurnServer(
  { address, directory, spawn }: TurnPlace,
  signal: AbortSignal,
): Promise<TurnServer> {
  const secret = randomBytes(24).toString('base64url')
  const secretFile = join(directory, 'turn-secret')
  const certificate = join(directory, 'turn.pem')
  makeCertificate(address, certificate, join(directory, 'turn.key'))
  const configFile = join(directory, 'turnserver.conf')
  const lines = [
    `listening-ip=${address}`,
    `listening-port=${port}`,
    `relay-ip=${address}`,
    'realm=nat.laboratory',
    'use-auth-secret',
    `static-auth-secret=${secret}`,
    `userdb=${join(directory, 'turn.db')}`,
    `pidfile=${join(directory, 'turn.pid')}`,
    'fingerprint',
    `tls-listening-port=${tlsPort}`,
    `cert=${certificate}`,
    `pkey=${join(directory, 'turn.key')}`,
    'no-dtls',
    'no-cli',
    'log-file=stdout',
    'simple-log',
  ]
  writeFileSync(secretFile, secret, { mode: 0o600 })
  writeFileSync(configFile, `${lines.join('\n')}\n`, { mode: 0o600 })
  const child = spawn('turnserver', ['-c', configFile], ['ignore', 'pipe', 'pipe'])
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => said.push(line))
  }
  const ended = new Promise<never>((_, reject) => {
    child.once('close', (code) =>
      reject(emulationError('PROCESS_FAILED', `turnserver ended with ${code}: ${said.slice(-5).join(' ')}`)),
    )
  })
  ended.catch(() => {})
  const client = [fileURLToPath(new URL('./probe/await-stun.ts', import.meta.url)), address, String(port)]
  const answered = once(spawn(process.execPath, client, ['ignore', 'ignore', 'inherit']), 'exit')
  await untilAborted(Promise.race([answered, ended]), signal)
  const version =
    execFileSync('turnserver', ['--version'], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? ''
  const turnUrls = {
    udp: `turn:${address}:${port}`,
    tcp: `turn:${address}:${port}?transport=tcp`,
    tls: `turns:${address}:${tlsPort}`,
  }
  return { stunUrl: `stun:${address}:${port}`, turnUrls, secretFile, certificate, version, pid: child.pid }
}
