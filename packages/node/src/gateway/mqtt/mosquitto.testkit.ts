import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface MosquittoOptions {
  readonly port: number
  readonly key: string
  readonly topic: string
  readonly version?: '311' | '5'
  readonly qos?: 0 | 1
  readonly more?: readonly string[]
}

function argumentsOf({ port, key, topic, version = '311', qos = 0, more = [] }: MosquittoOptions): string[] {
  const where = ['-h', '127.0.0.1', '-p', `${port}`, '-u', 'owner', '-P', key]
  return [...where, '-V', version === '5' ? 'mqttv5' : 'mqttv311', '-q', `${qos}`, '-t', topic, ...more]
}

/** Runs mosquitto_pub with these lines, each a message. Throws with what it says unless it ends well. */
export async function mosquittoPub(options: MosquittoOptions, lines: readonly string[]): Promise<void> {
  const child = spawn('mosquitto_pub', [...argumentsOf(options), '-l'])
  let errors = ''
  child.stderr.on('data', (data) => (errors += String(data)))
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0 || errors !== '') throw new Error(`mosquitto_pub ended with ${code}: ${errors}`)
}

/** A mosquitto_sub that runs. */
export interface MosquittoSub {
  /** Resolves when the gateway has granted its filter. */
  readonly subscribed: Promise<void>
  /** The next messages it prints, each a line. */
  take(count: number): Promise<string[]>
  end(): Promise<void>
}

export function mosquittoSub(options: MosquittoOptions): MosquittoSub {
  // With -d it says what it sends and gets, through the same pipe as the messages.
  const child = spawn('stdbuf', ['-oL', 'mosquitto_sub', ...argumentsOf(options), '-d', '-F', '=%t|%r|%p'])
  const closed = once(child, 'close')
  const lines: string[] = []
  let wake = () => {}
  const { promise: subscribed, resolve, reject } = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('Subscribed')) resolve()
    if (!line.startsWith('=')) return
    lines.push(line.slice(1))
    wake()
  })
  let errors = ''
  child.stderr.on('data', (data) => (errors += String(data)))
  void closed.then(() => reject(new Error(`mosquitto_sub ended: ${errors}`)))
  subscribed.catch(() => {})
  return {
    subscribed,
    take: async (count) => {
      while (lines.length < count) await new Promise<void>((more) => (wake = more))
      return lines.splice(0, count)
    },
    end: async () => {
      child.kill()
      await closed
    },
  }
}
