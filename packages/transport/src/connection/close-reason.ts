import type { Close } from '@runnel/protocol'
import type { CloseReason } from '../ports.ts'

const codePattern = /^[A-Z][A-Z0-9_]{0,63}$/
/** Characters of at most three UTF-8 bytes each, so that any text fits the protocol's 512 bytes. */
const maxTextLength = 160
/** Control characters, and those that change the direction or hide text. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu

/** A close reason that is safe to send, log and show, wherever it comes from: a valid code and a short printable text. */
export function closeReason(code: string, text: string, remote: boolean): CloseReason {
  return { code: codePattern.test(code) ? code : 'UNKNOWN', text: printable(text), remote }
}

/** The packet that tells a reason to the other side. */
export function closePacket(code: string, text: string): Close {
  const reason = closeReason(code, text, false)
  return { type: 'close', code: reason.code, reason: reason.text }
}

function printable(text: string): string {
  return text.slice(0, maxTextLength).replace(unprintable, ' ').trim()
}
