import type { EncryptionNews } from '@runnel/client'

/** What there is to say of the keys of a stream, in one sentence for people. */
export function encryptionSentence(streamId: string, news: EncryptionNews): string {
  switch (news.state) {
    case 'rotated':
      return `a new key of ${streamId}: ${news.epochId}, for ${othersText(news.readers)}`
    case 'uncertain':
      return `the registry does not say who may read ${streamId}; ${news.isStopped ? 'nothing is published there until it does, as its owner wants' : 'its last key stays in use'}: ${news.error.message}`
    case 'no-card':
      return `${news.userId} has no card yet, and asks for the keys of ${streamId} when it joins: somebody who has them must be online then. Or grant with --card`
    case 'unheld':
      return `${streamId} has no valid key for its publishers; trying again: ${news.error.message}`
    case 'unshared':
      return `the keys of ${streamId} could not be passed on, so readers ask for them when they join: ${news.error.message}`
  }
}

/** How many readers a new key was made for; its publisher needs none. */
export function othersText(count: number): string {
  return `${count} other ${count === 1 ? 'reader' : 'readers'} with a card`
}

export function readersText(count: number): string {
  return count === 1 ? '1 reader' : `${count} readers`
}
