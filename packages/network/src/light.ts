import type { LightParts } from './core/light-parts.ts'
import type { HostsOptions } from './ports.ts'

export { lightParts } from './core/light-parts.ts'

/** What a light node, or a host, is made with. */
export interface LightOptions {
  /** `lightParts` of `@runnel/network/light`. */
  readonly parts: LightParts
  /** Makes it a light node. */
  readonly hosts?: HostsOptions | undefined
  /** Serve light nodes as guests; the limits are among the node's. Default false. */
  readonly servesGuests?: boolean | undefined
}
