import { clearUntilMs, type EncryptionChoice } from '@runnel/protocol'

/** How a stream is encrypted, a line for each thing. */
export function describeEncryption(
  choice: EncryptionChoice,
  publicUntilMs: number,
  nowMs: number,
): readonly string[] {
  const { content, history, keyHolder, onOutage, rotateAfterDays = 7 } = choice
  const untilMs = clearUntilMs(choice, publicUntilMs)
  if (untilMs > nowMs)
    return [`encryption  none, as ${content === 'never' ? 'its owner says' : 'everybody may subscribe'}`]
  const days = rotateAfterDays === 1 ? 'a day' : `${rotateAfterDays} days`
  return [
    `encryption  yes, ${content === 'always' ? 'always' : 'as not everybody may subscribe'}`,
    `  keys      ${keyHolder === undefined ? 'each publisher has its own' : `of the key holder ${keyHolder}`}`,
    `  history   ${history === 'none' ? 'new readers can read what comes later' : 'new readers can read what is stored'}`,
    `  new key   when a reader goes, ${history === 'none' ? 'when one comes, ' : ''}and after ${days}`,
    ...(onOutage === 'stop' ? ['  outage    nothing is published while nobody says who may read'] : []),
  ]
}
