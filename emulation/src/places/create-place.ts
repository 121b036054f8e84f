import { emulationError } from '../errors.ts'
import { CorePlace, defaultPython } from './core-emulator/core-place.ts'
import { readHostsFile } from './hosts/hosts-file.ts'
import { HostsPlace } from './hosts/hosts-place.ts'
import { LoopbackPlace } from './loopback/loopback-place.ts'
import { NamespacesPlace } from './namespaces/namespaces-place.ts'
import type { Place, PlaceKind } from './place.ts'

export const placeKinds: readonly PlaceKind[] = ['namespaces', 'core', 'loopback', 'hosts']

/** Which of the options that not all places have are theirs: processes that already run flood as they do. */
export const placeTakes: Readonly<
  Record<PlaceKind, readonly ('hosts' | 'latency' | 'jitter' | 'seed' | 'floods')[]>
> = {
  namespaces: ['latency', 'jitter', 'seed', 'floods'],
  core: ['floods'],
  loopback: ['floods'],
  hosts: ['hosts', 'latency'],
}

export interface PlaceOptions {
  readonly place: PlaceKind
  /** A file, for hosts. */
  readonly hosts: string | undefined
  /** `aws`, `cities`, or a file; undefined: `aws` where delays are emulated, unknown where they are real. */
  readonly latency: string | undefined
  /** Of the delays that namespaces emulate, 0 unless given; `seed` 1. */
  readonly jitterMs: number | undefined
  readonly seed: number | undefined
}

/** The place by its name; nothing runs yet. Throws INVALID_ARGUMENT, INVALID_HOSTS, and what reading latencies throws. */
export function createPlace(options: PlaceOptions): Place {
  const { place, hosts, latency, jitterMs = 0, seed = 1 } = options
  switch (place) {
    case 'loopback':
      return new LoopbackPlace()
    case 'namespaces':
      return new NamespacesPlace({ latency: latency ?? 'aws', jitterMs, seed })
    case 'core':
      return new CorePlace({ python: process.env['RUNNEL_CORE_PYTHON'] ?? defaultPython })
    case 'hosts':
      return new HostsPlace(readHostsFile(hostsGiven(hosts)), latency)
  }
}

/** The file of hosts, which this place needs. Throws INVALID_ARGUMENT. */
export function hostsGiven(hosts: string | undefined): string {
  if (hosts === undefined) throw emulationError('INVALID_ARGUMENT', '--place hosts needs --hosts FILE')
  return hosts
}
