import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { emulationError } from '../../errors.ts'
import type { ControlAddress, Hosts } from '../place.ts'

const maxHosts = 10_000

const text = z.string().min(1).max(300)
const control = z
  .string()
  .regex(/^(http:\/\/[^/\s]+|unix:\/.+)$/, 'must be http://host:port or unix:/path')
  .transform((address) => address as ControlAddress)
const host = z.strictObject({ name: text, site: text, address: text, control })
const schema = z.strictObject({
  format: z.literal('runnel-hosts'),
  version: z.literal(1),
  /** What records say made them. */
  source: z.enum(['emulation', 'aws']),
  tracker: host,
  nodes: z.array(host).min(2).max(maxHosts),
  /** Relative to this file. */
  tokenFile: text.optional(),
})

export interface HostsFile extends Hosts {
  readonly source: 'emulation' | 'aws'
}

/** Reads a file of hosts: emulation/README.md. Throws INVALID_HOSTS. */
export function readHostsFile(path: string): HostsFile {
  const { data, error } = schema.safeParse(parseJson(path))
  if (data === undefined) {
    const [issue] = error.issues
    throw emulationError('INVALID_HOSTS', `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`)
  }
  const { source, tracker, nodes, tokenFile } = data
  if (tokenFile === undefined) return { source, tracker, nodes }
  return { source, tracker, nodes, token: readText(resolve(dirname(path), tokenFile)).trim() }
}

function parseJson(path: string): unknown {
  const content = readText(path)
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw emulationError('INVALID_HOSTS', `${path} is not JSON`, { cause })
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw emulationError('INVALID_HOSTS', `${path} cannot be read`, { cause })
  }
}
