import { execFileSync } from 'node:child_process'
import { inNamespace, Namespaces } from '../nat/namespaces.ts'

/** Where processes run: this machine, or a namespace of it. */
export interface SessionHost {
  /** That they listen on. */
  readonly address: string
  /** A command that runs a command there. */
  within(command: readonly string[]): readonly string[]
}

/** Of a run: one for the tracker, and one for each machine. */
export interface SessionHosts {
  readonly tracker: SessionHost
  readonly machines: readonly SessionHost[]
  /** Idempotent. */
  stop(): Promise<void>
}

export const thisHost = (address: string): SessionHost => ({ address, within: (command) => command })

/** One machine is this one; several are namespaces of it, each with a cable to this one, which needs root. */
export async function startHosts(machines: number): Promise<SessionHosts> {
  const loopback = thisHost('127.0.0.1')
  if (machines === 1) return { tracker: loopback, machines: [loopback], stop: () => Promise.resolve() }
  const namespaces = new Namespaces()
  const stop = () => namespaces.remove()
  try {
    const hosts = Array.from({ length: machines }, (_, number) => addMachine(namespaces, number))
    return { tracker: thisHost(outerAddress(0)), machines: hosts, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const outerAddress = (number: number): string => `10.79.${number}.1`

function addMachine(namespaces: Namespaces, number: number): SessionHost {
  const name = namespaces.add(`machine-${number}`)
  const [cable, outer, inner] = [`rs${process.pid}m${number}`, outerAddress(number), `10.79.${number}.2`]
  const ip = (command: string): unknown => execFileSync('ip', command.split(' '))
  ip(`link add ${cable} type veth peer name eth0 netns ${name}`)
  ip(`addr add ${outer}/30 dev ${cable}`)
  ip(`link set ${cable} up`)
  namespaces.configure(name, [
    `addr add ${inner}/30 dev eth0`,
    'link set eth0 up',
    `route add default via ${outer}`,
  ])
  return { address: inner, within: (command) => inNamespace(name, command) }
}
