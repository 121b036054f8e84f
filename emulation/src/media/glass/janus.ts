import type { ChildProcess, StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { emulationError } from '../../errors.ts'

const port = 8_188
const room = 1
/** Of the package's plugins and transports those that are not needed: one without settings may bring all down. */
const unused = {
  plugins: [
    ...['audiobridge', 'duktape', 'echotest', 'lua', 'nosip', 'recordplay', 'sip', 'streaming', 'textroom'],
    ...['videocall', 'voicemail'],
  ],
  transports: ['http', 'mqtt', 'nanomsg', 'pfunix', 'rabbitmq'],
}

export interface JanusPlace {
  readonly address: string
  /** For its settings. */
  readonly directory: string
  /** Starts a program there, which ends with the place. */
  spawn(command: string, args: readonly string[], stdio: StdioOptions): ChildProcess
}

/** Starts Janus, an SFU of Debian's package of that name, with one video room. It ends with the place. Rejects with PROCESS_FAILED when it does not start. */
export async function startJanus({ address, directory, spawn }: JanusPlace) {
  const folder = join(directory, 'janus')
  mkdirSync(folder)
  const settings = {
    'janus.jcfg': `general: { debug_level = 4; protected_folders = [] }
plugins: { disable = "${librariesOf(unused.plugins)}" }
transports: { disable = "${librariesOf(unused.transports)}" }`,
    'janus.transport.websockets.jcfg': `general: { ws = true; ws_port = ${port}; ws_ip = "${address}" }`,
    'janus.plugin.videoroom.jcfg': `room-${room}: { description = "a room"; publishers = 50; bitrate = 0; videocodec = "vp8"; audiocodec = "opus" }`,
  }
  for (const [name, text] of Object.entries(settings)) writeFileSync(join(folder, name), `${text}\n`)
  const child = spawn('janus', ['--disable-colors', '-F', folder], ['ignore', 'pipe', 'ignore'])
  const failed = Promise.race([once(child, 'error'), once(child, 'close')]).then(([how]) => {
    throw emulationError('PROCESS_FAILED', `janus: ${String(how)}`)
  })
  failed.catch(() => {})
  const ready = Promise.withResolvers<void>()
  if (child.stdout)
    createInterface({ input: child.stdout }).on('line', (line) => {
      // Transports come last.
      if (line.includes('WebSockets thread started')) ready.resolve()
    })
  await Promise.race([ready.promise, failed])
  return { url: `ws://${address}:${port}`, room, failed }
}

const librariesOf = (names: readonly string[]): string => names.map((name) => `libjanus_${name}.so`).join(',')
