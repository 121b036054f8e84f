/** What keeps something in a browser, elsewhere: each says that it cannot, and what can. */
import type * as origin from '../browser/origin-store.ts'
import type * as stored from '../browser/stored-key.ts'
import { clientError } from '../errors.ts'

/** Only in pages; throws ONLY_IN_PAGES. Elsewhere use `readKeyFile` and `writeKeyFile`. */
export const storedKey: typeof stored.storedKey = () =>
  Promise.reject(clientError('ONLY_IN_PAGES', 'storedKey'))

/** Only in pages; throws ONLY_IN_PAGES. Elsewhere use a `SessionStore` of your own, or `memoryStore`. */
export const originStore: typeof origin.originStore = () => {
  throw clientError('ONLY_IN_PAGES', 'originStore')
}
