import { Guests } from './guests/guests.ts'
import { HostWatch } from './hosts/host-watch.ts'
import { Hosts } from './hosts/hosts.ts'

/** What light nodes and their hosts have besides: loaded where it is used, as most pages need neither. */
export const lightParts = { Guests, Hosts, HostWatch }
export type LightParts = typeof lightParts
