import type { NetworkSource } from '@runnel/client'
import { talk } from './talk.js'

/** What a test calls in the page. */
const said = (network: NetworkSource): Promise<unknown> => talk(network, {})
Object.assign(globalThis, { said })
