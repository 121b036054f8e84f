import { Namespaces } from './namespaces.ts'
import { natRuleset, type NatKind } from './nat-kinds.ts'

/** The public network is 198.51.100.0/24 (RFC 5737, section 3). The servers are at the first address; probes use the second as well. */
export const publicAddresses = ['198.51.100.1', '198.51.100.2'] as const
/** The default route of public hosts, which leads nowhere: what they send to private addresses is lost. */
const nowhere = { address: '198.51.100.254', mac: '02:00:00:00:00:fe' }

/** Where one host of the laboratory is. */
export interface Place {
  readonly namespace: string
  readonly address: string
}

/** A site with its hosts, behind one NAT or public. */
export interface Site {
  readonly kind: NatKind
  readonly hosts: readonly Place[]
  remove(): Promise<void>
}

/**
 * A public network on one bridge, and sites that come and go, each with its own NAT. It is not connected to this machine's
 * network.
 */
export class Laboratory {
  readonly #namespaces = new Namespaces()
  #internet = ''
  #sites = 0

  /** The namespace of the public servers; empty before the start. */
  get internet(): string {
    return this.#internet
  }

  /** Makes the public network. Call `remove` in any case. */
  start(): void {
    this.#internet = this.#namespaces.add('internet')
    this.#namespaces.configure(this.internet, [
      'link add internet type bridge',
      ...publicAddresses.map((address) => `addr add ${address}/24 dev internet`),
      'link set internet up',
      ...defaultRoute('internet'),
    ])
  }

  /** Adds a site of one or more hosts. */
  addSite(kind: NatKind, hostCount = 1): Site {
    const number = (++this.#sites % 100) + 10
    const added =
      kind === 'public' ? this.#publicHosts(number, hostCount) : this.#behindNat(number, kind, hostCount)
    return { kind, hosts: added.hosts, remove: () => this.#namespaces.remove(added.namespaces) }
  }

  spawn: Namespaces['spawn'] = (...args) => this.#namespaces.spawn(...args)

  /** Runs a program on the public network to its end. Gives what it printed; throws when it fails. */
  run(command: string, args: readonly string[]): string {
    return this.#namespaces.run(this.internet, command, args)
  }

  /** Ends every process and removes every namespace. Idempotent. */
  remove(): Promise<void> {
    return this.#namespaces.remove()
  }

  #publicHosts(number: number, hostCount: number) {
    const hosts = Array.from({ length: hostCount }, (_, index) => {
      const place = { namespace: this.#namespaces.add('host'), address: `198.51.100.${number + 100 * index}` }
      this.#join(place.namespace, 'wan', place.address, this.internet, 'internet', `s${number}h${index}`)
      this.#namespaces.configure(place.namespace, defaultRoute('wan'))
      return place
    })
    return { hosts, namespaces: hosts.map(({ namespace }) => namespace) }
  }

  #behindNat(number: number, kind: Exclude<NatKind, 'public'>, hostCount: number) {
    const router = this.#namespaces.add(kind)
    this.#join(router, 'wan', `198.51.100.${number}`, this.internet, 'internet', `s${number}`)
    this.#namespaces.configure(router, [
      ...defaultRoute('wan'),
      'link add lan type bridge',
      `addr add 10.${number}.0.1/24 dev lan`,
      'link set lan up',
    ])
    this.#namespaces.run(router, 'nft', ['-f', '-'], natRuleset(kind))
    const hosts = Array.from({ length: hostCount }, (_, index) => {
      const place = { namespace: this.#namespaces.add('host'), address: `10.${number}.0.${index + 2}` }
      this.#join(place.namespace, 'lan', place.address, router, 'lan', `host${index}`)
      this.#namespaces.configure(place.namespace, [`route add default via 10.${number}.0.1`])
      return place
    })
    return { hosts, namespaces: [...hosts.map(({ namespace }) => namespace), router] }
  }

  /** A cable from a new interface with an address to a port of a bridge. */
  #join(namespace: string, name: string, address: string, to: string, bridge: string, port: string): void {
    this.#namespaces.configure(to, [`link add ${port} type veth peer name ${name} netns ${namespace}`])
    this.#namespaces.configure(to, [`link set ${port} master ${bridge} up`])
    this.#namespaces.configure(namespace, [`addr add ${address}/24 dev ${name}`, `link set ${name} up`])
  }
}

function defaultRoute(device: string): string[] {
  return [
    `neigh add ${nowhere.address} lladdr ${nowhere.mac} dev ${device} nud permanent`,
    `route add default via ${nowhere.address}`,
  ]
}
