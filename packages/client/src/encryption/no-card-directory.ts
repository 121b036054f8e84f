import { clientError } from '../errors.ts'
import type { CardDirectory } from './ports.ts'

export const noCardDirectory: CardDirectory = {
  put: () => Promise.reject(clientError('NO_STORAGE_NODE', 'cards')),
  cardsOf: () => Promise.reject(clientError('NO_STORAGE_NODE', 'cards')),
}
