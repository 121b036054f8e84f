import type { EncryptionNews } from '@runnel/client'

/** What there is to say of the keys of a stream, in one sentence for people. */
export function encryptionSentence(streamId: string, news: EncryptionNews): string {
  switch (news.state) {
    case 'rotated':
      return `a new key of ${streamId}: ${news.epochId}, for ${readersText(news.readers)}`
    case 'uncertain':
      return `nobody says who may read ${streamId}, and its last key stays in use: ${news.error.message}`
    case 'no-card':
      return `${news.userId} has no card yet, and asks for the keys of ${streamId} when it comes: somebody who has them must be there then; or grant with --card`
    case 'unheld':
      return `there is no valid key of ${streamId} for its publishers, trying again: ${news.error.message}`
    case 'unshared':
      return `readers of ${streamId} ask for its keys when they come, as these could not be passed on: ${news.error.message}`
  }
}

export function readersText(count: number): string {
  return count === 1 ? '1 reader' : `${count} readers`
}
