import { arch, cpus, platform } from 'node:os'
import { ownVersion } from '../../cli/own-version.ts'

/** Where a bench ran, for those who compare its figures. Of workers, it is the driver's alone. */
export interface Machine {
  readonly runnel: string
  readonly node: string
  readonly cpu: string
  readonly cores: number
  readonly system: string
}

export function machineOf(): Machine {
  const cores = cpus()
  return {
    ...{ runnel: ownVersion(), node: process.versions.node, cpu: cores[0]?.model ?? 'unknown' },
    ...{ cores: cores.length, system: `${platform()} ${arch()}` },
  }
}

/** Options that change what is measured. Others name files, places, keys and accounts, which a report does not. */
const shown = [
  ...['users', 'clients', 'streams', 'room', 'publishers', 'links', 'floods', 'degree', 'nodes', 'encrypt'],
  ...['connrate', 'settle', 'rate', 'size', 'media', 'messages', 'warmup', 'duration', 'processes'],
  ...['ramp', 'most', 'steps', 'aim'],
] as const

/** The options of a command, with its defaults, as one would write them. */
export function optionsText(args: Readonly<Partial<Record<string, unknown>>>): string {
  return shown.flatMap((name) => optionWords(name, args[name])).join(' ')
}

function optionWords(name: string, value: unknown): readonly string[] {
  if (value === undefined || value === false) return []
  if (value === true) return [`--${name}`]
  const word = String(value)
  return [`--${name}`, /^[\w.,:%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`]
}
