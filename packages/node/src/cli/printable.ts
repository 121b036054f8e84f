/**
 * What others wrote, made safe for a terminal. Control characters (C0, DEL and C1) move its cursor, change its title or
 * answer for its user; format characters (bidirectional overrides, zero-width ones) and the separators of lines and
 * paragraphs show another text than is there. All that the commands print goes through here, but for `--raw`.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** The control characters that JSON does not escape. */
const unprintableInJson = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text of a line: what is unprintable is shown as �. */
export function printable(text: string): string {
  return text.replace(unprintable, '�')
}

/** One line of JSON that means the same as `JSON.stringify` says: what is unprintable is escaped. */
export function printableJson(value: unknown): string {
  return escapeJson(JSON.stringify(value))
}

/** JSON, with what is unprintable in it escaped. */
export function escapeJson(json: string): string {
  return json.replace(unprintableInJson, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
