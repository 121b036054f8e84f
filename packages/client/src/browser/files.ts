/** What reads and writes files, in a page: each says that it cannot, and what can. */
import { clientError } from '../errors.ts'
import type * as delegationFile from '../node/delegation-file.ts'
import type * as keyFile from '../node/key-file.ts'
import type * as networkFile from '../node/network-file.ts'
import type * as readingKeyFile from '../node/reading-key-file.ts'
import type * as tokenFile from '../node/token-file.ts'
import type * as userFile from '../node/user-file.ts'

const notInPages = (name: string) => (): never => {
  throw clientError('NOT_IN_PAGES', name)
}

/**
 * Only in Node; throws NOT_IN_PAGES. In a page, `fetch` the document of a static network, or name the chain in the
 * configuration.
 */
export const readNetworkFile: typeof networkFile.readNetworkFile = notInPages('readNetworkFile')
/** Only in Node; throws NOT_IN_PAGES. In a page use `storedKey`. */
export const readKeyFile: typeof keyFile.readKeyFile = notInPages('readKeyFile')
/** Only in Node; throws NOT_IN_PAGES. In a page use `storedKey`. */
export const writeKeyFile: typeof keyFile.writeKeyFile = notInPages('writeKeyFile')
/** Only in Node; throws NOT_IN_PAGES. In a page, use `openSession`, or give the content of the file. */
export const readDelegationFile: typeof delegationFile.readDelegationFile = notInPages('readDelegationFile')
/** Only in Node; throws NOT_IN_PAGES. In a page, use `openSession`, which stores its session. */
export const writeDelegationFile: typeof delegationFile.writeDelegationFile =
  notInPages('writeDelegationFile')
/** Only in Node; throws NOT_IN_PAGES. In a page give the token itself. */
export const readTokenFile: typeof tokenFile.readTokenFile = notInPages('readTokenFile')
/** Only in Node; throws NOT_IN_PAGES. In a page give the content of the file. */
export const readReadingKeyFile: typeof readingKeyFile.readReadingKeyFile = notInPages('readReadingKeyFile')
/** Only in Node; throws NOT_IN_PAGES. In a page, `exportReadingKey` returns the contents of such a file. */
export const writeReadingKeyFile: typeof readingKeyFile.writeReadingKeyFile =
  notInPages('writeReadingKeyFile')
/** Only in Node; throws NOT_IN_PAGES. In a page give `privateKey`, `delegation` or `wallet`. */
export const readUserFile: typeof userFile.readUserFile = notInPages('readUserFile')
