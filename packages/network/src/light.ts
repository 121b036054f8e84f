/** What light nodes and their hosts have besides: loaded where it is used, as most pages need neither. */
import { Guests } from './core/guests/guests.ts'
import { HostWatch } from './core/hosts/host-watch.ts'
import { Hosts } from './core/hosts/hosts.ts'

export const lightParts = { Guests, Hosts, HostWatch }
export type LightParts = typeof lightParts
