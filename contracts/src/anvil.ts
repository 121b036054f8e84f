/** The embedded chain: anvil as a child process, for tests and for a local network. */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { HDNodeWallet, Mnemonic } from 'ethers'
import { anvilCommand } from './anvil-binary.ts'
import { ContractsError } from './errors.ts'
import { spawnTied, type TiedProcess } from './tied-process.ts'

export interface AnvilOptions {
  /** IP address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** TCP port to listen on; 0, the default, takes a free one. */
  readonly port?: number
  /** Where the chain's state is read at the start, if it is there, and written at the end. Default: not kept. */
  readonly stateFile?: string
  /** Default 31337. */
  readonly chainId?: number
  /** Calls the start off, and stops a chain that runs. */
  readonly signal?: AbortSignal
}

/** A running chain. */
export interface Anvil {
  /** Where its JSON-RPC answers. */
  readonly url: string
  /** Its process id. */
  readonly pid: number | undefined
  /** Private keys of its ten funded accounts. Everybody knows them: never use them on another chain. */
  readonly privateKeys: readonly string[]
  /** Ends the chain, saves its state when a state file was given, and waits for both. Idempotent. */
  stop(): Promise<void>
  /** Resolves when the chain has ended: to nothing after a stop, else to a CHAIN_DIED error. */
  closed(): Promise<ContractsError | undefined>
}

/** The development phrase every Ethereum tool knows. Given to anvil so that its accounts are ours whatever its default. */
const mnemonic = 'test test test test test test test test test test test junk'
const derivationPath = "m/44'/60'/0'/0"
const accountCount = 10

/** How much of what anvil says is kept to find its address, or the reason of a failure, in characters. */
const maxKeptOutput = 8192

/**
 * Starts a chain and waits until it listens. It ends with this process, however that ends.
 * Throws CHAIN_BINARY_MISSING, CHAIN_PORT_TAKEN, CHAIN_START_FAILED or CHAIN_ABORTED.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const { signal, stateFile } = options
  if (stateFile !== undefined) await makeDirectoryOf(stateFile)
  if (signal?.aborted) throw aborted(signal)
  const chain = spawnTied([...anvilCommand(), ...argumentsOf(options)])
  const stop = () => void chain.stop()
  signal?.addEventListener('abort', stop)
  void chain.ended.then(() => signal?.removeEventListener('abort', stop))
  const url = await waitForUrl(chain, signal)
  return running(chain, url, signal)
}

function running(chain: TiedProcess, url: string, signal: AbortSignal | undefined): Anvil {
  let stopping = false
  const closed = chain.ended.then((reason) =>
    stopping || signal?.aborted ? undefined : new ContractsError('CHAIN_DIED', reason),
  )
  const stop = () => {
    stopping = true
    return chain.stop()
  }
  return { url, pid: chain.pid, privateKeys: derivePrivateKeys(), stop, closed: () => closed }
}

async function makeDirectoryOf(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
  } catch (cause) {
    throw new ContractsError('CHAIN_START_FAILED', `no directory for ${file}`, { cause })
  }
}

function argumentsOf({ host = '127.0.0.1', port = 0, chainId = 31337, stateFile }: AnvilOptions): string[] {
  const args = ['--host', host, '--port', String(port), '--chain-id', String(chainId)]
  args.push('--mnemonic', mnemonic, '--accounts', String(accountCount))
  if (stateFile !== undefined) args.push('--state', stateFile)
  return args
}

/** Anvil says where it listens once it does: that gives the port the system chose, and needs no polling. */
async function waitForUrl(chain: TiedProcess, signal: AbortSignal | undefined): Promise<string> {
  const complaint = keepTail(chain.stderr)
  const url = await Promise.race([findUrl(chain.stdout), chain.ended.then(() => undefined)])
  if (signal?.aborted) {
    await chain.stop()
    throw aborted(signal)
  }
  if (url === undefined) throw startFailure(complaint(), await chain.ended)
  return url
}

function findUrl(stdout: Readable): Promise<string> {
  const said = keepTail(stdout)
  return new Promise((resolve) => {
    const look = () => {
      const match = /^Listening on (.+):(\d+)$/m.exec(said())
      if (!match) return
      stdout.off('data', look)
      resolve(`http://${match[1] === '0.0.0.0' ? '127.0.0.1' : match[1]}:${match[2]}`)
    }
    stdout.on('data', look)
  })
}

/** Reads a stream to its end, so that its writer never waits, and remembers the last of it. */
function keepTail(stream: Readable): () => string {
  let tail = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-maxKeptOutput)
  })
  return () => tail
}

function startFailure(complaint: string, reason: string): ContractsError {
  const code = /address already in use/i.test(complaint) ? 'CHAIN_PORT_TAKEN' : 'CHAIN_START_FAILED'
  return new ContractsError(code, complaint.trim() || reason)
}

function aborted(signal: AbortSignal): ContractsError {
  return new ContractsError('CHAIN_ABORTED', undefined, { cause: signal.reason })
}

function derivePrivateKeys(): string[] {
  const parent = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(mnemonic), derivationPath)
  return Array.from({ length: accountCount }, (_, index) => parent.deriveChild(index).privateKey)
}
