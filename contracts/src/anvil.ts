/** The embedded chain: anvil as a child process behind a guard, for tests and for a local network. */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { HDNodeWallet, Mnemonic } from '@runnel/contracts/ethers'
import { anvilCommand } from './anvil-binary.ts'
import { startChainGuard, type ChainGuard, type Endpoint } from './chain-guard.ts'
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
  const guard = await listen(options)
  try {
    const chain = await startChain(options)
    guard.forwardTo(chain.endpoint)
    return running(chain, guard, signal)
  } catch (error) {
    await guard.stop()
    throw error
  }
}

/** Throws CHAIN_PORT_TAKEN or CHAIN_START_FAILED. */
async function listen({ host = '127.0.0.1', port = 0 }: AnvilOptions): Promise<ChainGuard> {
  try {
    return await startChainGuard({ host, port })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const taken = code === 'EADDRINUSE'
    throw new ContractsError(taken ? 'CHAIN_PORT_TAKEN' : 'CHAIN_START_FAILED', message, { cause })
  }
}

interface StartedChain extends TiedProcess {
  readonly endpoint: Endpoint
}

async function startChain(options: AnvilOptions): Promise<StartedChain> {
  const { signal } = options
  if (signal?.aborted) throw aborted(signal)
  const chain = spawnTied([...anvilCommand(), ...argumentsOf(options)])
  const stop = () => void chain.stop()
  signal?.addEventListener('abort', stop)
  void chain.ended.then(() => signal?.removeEventListener('abort', stop))
  return { ...chain, endpoint: await waitForEndpoint(chain, signal) }
}

function running(chain: StartedChain, guard: ChainGuard, signal: AbortSignal | undefined): Anvil {
  let stopping = false
  const closed = chain.ended.then(async (reason) => {
    await guard.stop()
    return stopping || signal?.aborted ? undefined : new ContractsError('CHAIN_DIED', reason)
  })
  const stop = async () => {
    stopping = true
    await chain.stop()
    await closed
  }
  return {
    url: guard.url,
    pid: chain.pid,
    // Deriving them takes longer than all else here.
    get privateKeys() {
      return developmentKeys()
    },
    stop,
    closed: () => closed,
  }
}

async function makeDirectoryOf(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
  } catch (cause) {
    throw new ContractsError('CHAIN_START_FAILED', `no directory for ${file}`, { cause })
  }
}

/**
 * Where the chain itself listens: only the guard should find it. On Linux every address under 127 is this machine, so this is one
 * of 16 million; elsewhere only the port is secret, and web pages may not read the chain's answers.
 */
function hiddenHost(): string {
  const [a = 0, b = 0, c = 0] = randomBytes(3)
  return process.platform === 'linux' ? `127.${a}.${b}.${1 + (c % 254)}` : '127.0.0.1'
}

function argumentsOf({ chainId = 31337, stateFile }: AnvilOptions): string[] {
  const args = ['--host', hiddenHost(), '--port', '0', '--no-cors', '--chain-id', String(chainId)]
  args.push('--mnemonic', mnemonic, '--accounts', String(accountCount))
  if (stateFile !== undefined) args.push('--state', stateFile)
  return args
}

/** Anvil says where it listens once it does: that gives the port the system chose, and needs no polling. */
async function waitForEndpoint(chain: TiedProcess, signal: AbortSignal | undefined): Promise<Endpoint> {
  const complaint = keepTail(chain.stderr)
  const endpoint = await Promise.race([findEndpoint(chain.stdout), chain.ended.then(() => undefined)])
  if (signal?.aborted) {
    await chain.stop()
    throw aborted(signal)
  }
  if (endpoint === undefined)
    throw new ContractsError('CHAIN_START_FAILED', complaint().trim() || (await chain.ended))
  return endpoint
}

function findEndpoint(stdout: Readable): Promise<Endpoint> {
  const said = keepTail(stdout)
  return new Promise((resolve) => {
    const look = () => {
      const match = /^Listening on (.+):(\d+)$/m.exec(said())
      if (!match) return
      stdout.off('data', look)
      resolve({ host: match[1] ?? '', port: Number(match[2]) })
    }
    stdout.on('data', look)
  })
}

/** Reads a stream to its end, so that its writer never waits, and remembers its last part. */
function keepTail(stream: Readable): () => string {
  let tail = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-maxKeptOutput)
  })
  return () => tail
}

function aborted(signal: AbortSignal): ContractsError {
  return new ContractsError('CHAIN_ABORTED', undefined, { cause: signal.reason })
}

/** Private keys of the accounts that every development chain funds, the first of which pays. Everybody knows them. */
export function developmentKeys(): string[] {
  const parent = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(mnemonic), derivationPath)
  return Array.from({ length: accountCount }, (_, index) => parent.deriveChild(index).privateKey)
}
