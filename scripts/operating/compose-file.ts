import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const serviceSchema = z.strictObject({
  image: z.string(),
  /** Made before: image.ts. */
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
  ports: z.array(z.string().regex(/^[\d.]+:\d+:\d+$/)).default([]),
  network_mode: z.string().default('own'),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.literal('service_completed_successfully') }))
    .default({}),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.literal('ALL')).default([]),
  security_opt: z.array(z.literal('no-new-privileges:true')).default([]),
  healthcheck: z.strictObject({ disable: z.literal(true) }).optional(),
  /** Of processes that have ended: nothing here ends one. */
  init: z.boolean().optional(),
  restart: z.enum(['no', 'unless-stopped']).optional(),
  stop_grace_period: z.string().optional(),
  /** Of lines, which are in one file each here. */
  logging: z.unknown().optional(),
})
const fileSchema = z.looseObject({
  name: z.string(),
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.null()).default({}),
})

export type Service = z.infer<typeof serviceSchema> & { readonly name: string }

export interface Mount {
  /** The name of a volume, or else an absolute path of this machine. */
  readonly source: string
  readonly isVolume: boolean
  readonly target: string
  readonly readOnly: boolean
}

/** The services of a compose file, each after those that it needs. Throws on what this reader does not know. */
export function readCompose(file: string): Service[] {
  const text = JSON.stringify(parse(readFileSync(file, 'utf8'), { merge: true }))
  if (text.replaceAll('$$', '').includes('$')) throw new Error('variables are not known here')
  const { services } = fileSchema.parse(JSON.parse(text.replaceAll('$$', '$')))
  const sorted: Service[] = []
  const add = (name: string): void => {
    const service = services[name]
    if (service === undefined) throw new Error(`there is no service ${name}`)
    if (sorted.some((other) => other.name === name)) return
    for (const needed of [...networkOf(service), ...Object.keys(service.depends_on)]) add(needed)
    sorted.push({ ...service, name })
  }
  for (const name of Object.keys(services)) add(name)
  return sorted
}

/** The service whose network this one is in; none: its own. */
export const networkOf = ({ network_mode: mode }: Pick<Service, 'network_mode'>): string[] =>
  mode.startsWith('service:') ? [mode.slice('service:'.length)] : []

export function mountsOf({ volumes }: Service, file: string): Mount[] {
  return volumes.map((text) => {
    const [source = '', target = '', mode] = text.split(':')
    const isVolume = !source.startsWith('.')
    return {
      source: isVolume ? source : resolve(dirname(file), source),
      isVolume,
      target,
      readOnly: mode === 'ro',
    }
  })
}
