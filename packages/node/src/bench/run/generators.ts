import { untilAborted } from '@runnel/protocol'
import type { BenchArguments } from '../../commands/bench-options.ts'
import { nodeError } from '../../errors.ts'
import { filesNeeded } from '../core/open-files.ts'
import type { Generator } from '../load/generator.ts'
import { LocalGenerator } from '../load/local-generator.ts'
import { openFileLimit } from '../load/open-file-limit.ts'
import { requireListen } from '../network/require-listen.ts'
import { requireKind } from '../users/require-kind.ts'
import { startOwnWorkers } from '../worker/own-workers.ts'
import { RemoteGenerator } from '../worker/remote-generator.ts'

/** Where the generators of a bench are. */
export interface Generators {
  /** Fresh ones, for one run of so many users. Throws BENCH_TOO_FEW_FILES, what connecting to workers throws, and the reason of the bench's signal. */
  open(clients: number): Promise<readonly Generator[]>
  /** Idempotent. */
  stop(): Promise<void>
}

type Options = Pick<BenchArguments, 'worker' | 'processes' | 'users' | 'links' | 'network' | 'listen'>

/**
 * Generators as options ask for them: this process, several of this machine, or workers that listen already. What is wrong with them for so
 * many users is known before anything else starts: throws USAGE, and what opening them throws. A worker that is silent is waited for until the signal aborts.
 */
export async function openGenerators(
  options: Options,
  clients: number,
  signal: AbortSignal,
): Promise<Generators> {
  const generators = await chooseGenerators(options, signal)
  try {
    await stopAll(await generators.open(clients))
    return generators
  } catch (error) {
    await generators.stop()
    throw error
  }
}

async function chooseGenerators(options: Options, signal: AbortSignal): Promise<Generators> {
  const { worker, processes } = options
  if (worker === undefined && processes === 1)
    return { open: inThisProcess(options), stop: () => Promise.resolve() }
  if (worker !== undefined) requireReachable(worker, options.network)
  const own = worker === undefined ? await startOwnWorkers(processes, signal) : undefined
  const token = own?.token ?? sharedToken()
  return {
    open: (clients) => untilOpened(inWorkers(options, own?.places ?? worker ?? [], token, clients), signal),
    stop: () => own?.stop() ?? Promise.resolve(),
  }
}

/** What opens after the signal has aborted is stopped. */
async function untilOpened(
  opening: Promise<readonly Generator[]>,
  signal: AbortSignal,
): Promise<readonly Generator[]> {
  try {
    return await untilAborted(opening, signal)
  } catch (error) {
    opening.then(stopAll).catch(() => {})
    throw error
  }
}

async function inWorkers(
  options: Options,
  places: readonly string[],
  token: string,
  clients: number,
): Promise<readonly Generator[]> {
  const connected = await connectAll(places, token)
  try {
    requireFiles(options, connected, clients)
    await Promise.all(connected.map((generator) => generator.check(options.listen, options.users)))
    return connected
  } catch (error) {
    await stopAll(connected)
    throw error
  }
}

async function stopAll(generators: readonly Generator[]): Promise<void> {
  await Promise.all(generators.map((generator) => generator.stop()))
}

/** Of workers that listen already. Throws BENCH_TOKEN_MISSING. */
function sharedToken(): string {
  const token = process.env['RUNNEL_BENCH_TOKEN']
  if (!token) throw nodeError('BENCH_TOKEN_MISSING', 'set it here, too, for the bench')
  return token
}

function inThisProcess(options: Options): Generators['open'] {
  const name = 'this process'
  return async (clients) => {
    requireFiles(options, [{ name, openFiles: openFileLimit() }], clients)
    await requireListen(options.listen)
    await requireKind(options.users)
    return [new LocalGenerator(name)]
  }
}

/** Throws BENCH_TOO_FEW_FILES. */
function requireFiles(
  { users, links }: Options,
  generators: readonly { readonly name: string; readonly openFiles: number | undefined }[],
  clients: number,
): void {
  const needed = filesNeeded(Math.ceil(clients / generators.length), users, links)
  for (const { name, openFiles = Infinity } of generators)
    if (openFiles < needed)
      throw nodeError('BENCH_TOO_FEW_FILES', `${name} may open ${openFiles}, and needs about ${needed}`)
}

/** A network of its own listens on this machine alone. */
function requireReachable(places: readonly string[], network: string | undefined): void {
  if (network !== undefined) return
  const far = places.find((place) => !/^(127\.0\.0\.1|localhost|\[::1\]):/.test(place))
  if (far !== undefined)
    throw nodeError('USAGE', `--worker ${far} cannot reach a network of this machine: give --network`)
}

/** When one refuses, the others are let go. */
async function connectAll(places: readonly string[], token: string): Promise<readonly RemoteGenerator[]> {
  const attempts = await Promise.allSettled(places.map((place) => RemoteGenerator.connect(place, token)))
  const connected = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
  const failed = attempts.find((attempt) => attempt.status === 'rejected')
  if (failed === undefined) return connected
  await stopAll(connected)
  throw failed.reason
}
