/** RFC 4787, section 4.1: what the outer port of an inner socket depends on. */
export type Mapping = 'none' | 'endpoint-independent' | 'address-and-port-dependent' | 'blocked'

/** RFC 4787, section 5: the senders whose packets to that outer port are let in. */
export type Filtering =
  'none' | 'endpoint-independent' | 'address-dependent' | 'address-and-port-dependent' | 'blocked'

export interface NatBehaviour {
  readonly mapping: Mapping
  readonly filtering: Filtering
}

/** Where a host is: on the public network, or behind one of these. The names of cones are from RFC 3489, section 5. */
export const natKinds = [
  'public',
  'full-cone',
  'address-restricted',
  'port-restricted',
  'symmetric',
  'udp-blocked',
] as const
export type NatKind = (typeof natKinds)[number]

/** What each kind does with UDP, in the terms of RFC 4787. */
export const natBehaviours: Readonly<Record<NatKind, NatBehaviour>> = {
  public: { mapping: 'none', filtering: 'none' },
  'full-cone': { mapping: 'endpoint-independent', filtering: 'endpoint-independent' },
  'address-restricted': { mapping: 'endpoint-independent', filtering: 'address-dependent' },
  'port-restricted': { mapping: 'endpoint-independent', filtering: 'address-and-port-dependent' },
  symmetric: { mapping: 'address-and-port-dependent', filtering: 'address-and-port-dependent' },
  'udp-blocked': { mapping: 'blocked', filtering: 'blocked' },
}

/** What differs between the kinds in their rules for nftables. */
interface Rules {
  /** The inner socket that may be reached from outside, by what a packet from outside says. */
  readonly map?: string
  /** Of packets from inside to outside. */
  readonly outbound?: string
  /** Of packets from outside that belong to no connection of the kernel's. */
  readonly inbound?: string
  readonly masquerade: string
}

const rules: Readonly<Record<Exclude<NatKind, 'public'>, Rules>> = {
  'full-cone': {
    map: 'inet_service : ipv4_addr',
    outbound: 'update @open { udp sport : ip saddr }',
    inbound: 'dnat to udp dport map @open',
    masquerade: 'masquerade',
  },
  'address-restricted': {
    map: 'inet_service . ipv4_addr : ipv4_addr',
    outbound: 'update @open { udp sport . ip daddr : ip saddr }',
    inbound: 'dnat to udp dport . ip saddr map @open',
    masquerade: 'masquerade',
  },
  // What the kernel does by itself: ports are kept where they are free, and a connection is known by both its ends.
  'port-restricted': { masquerade: 'masquerade' },
  symmetric: { masquerade: 'masquerade fully-random' },
  'udp-blocked': { outbound: 'drop', masquerade: 'masquerade' },
}

/**
 * The rules of a router with the interfaces `lan` and `wan`, for `nft -f`. TCP from inside passes in every kind. A stranger's packet to
 * the router itself is dropped before the kernel remembers it: else its connection would take the port, the next mapping
 * would get another one, and every NAT would act symmetric once both sides have sent.
 */
export function natRuleset(kind: Exclude<NatKind, 'public'>): string {
  const { map, outbound, inbound, masquerade } = rules[kind]
  return [
    'table ip nat_laboratory {',
    ...(map ? [`map open { type ${map}; flags dynamic,timeout; timeout 5m; }`] : []),
    'chain forwarded {',
    'type filter hook forward priority filter; policy accept;',
    ...(outbound ? [`oifname "wan" meta l4proto udp ${outbound}`] : []),
    'iifname "wan" ct status dnat accept',
    'iifname "wan" ct state new drop',
    '}',
    'chain received {',
    'type filter hook input priority filter; policy accept;',
    'iifname "wan" ct state new drop',
    '}',
    'chain before {',
    'type nat hook prerouting priority dstnat; policy accept;',
    ...(inbound ? [`iifname "wan" meta l4proto udp ${inbound}`] : []),
    '}',
    'chain after {',
    'type nat hook postrouting priority srcnat; policy accept;',
    `oifname "wan" ${masquerade}`,
    '}',
    '}',
    '',
  ].join('\n')
}
