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
    return [
      `encryption  none, because ${content === 'never' ? 'its owner chose so' : 'everybody may subscribe'}`,
    ]
  const days = rotateAfterDays === 1 ? 'a day' : `${rotateAfterDays} days`
  return [
    `encryption  yes, ${content === 'always' ? 'always' : 'because not everybody may subscribe'}`,
    `  keys      ${keyHolder === undefined ? 'each publisher has its own' : `of the key holder ${keyHolder}`}`,
    `  history   ${history === 'none' ? 'new readers can read later messages only' : 'new readers can read stored messages'}`,
    `  new key   when a reader is removed, ${history === 'none' ? 'when one is added, ' : ''}and after ${days}`,
    ...(onOutage === 'stop'
      ? ['  outage    nothing is published while the registry does not say who may read']
      : []),
  ]
}
