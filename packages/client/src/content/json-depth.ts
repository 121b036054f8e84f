/** How deep arrays and objects of JSON content may be in one another; deeper ones parse, but overflow the stack of whoever walks them. */
export const maxJsonDepth = 1000

const quote = 0x22
const backslash = 0x5c
const opening = 0x7b
const closing = 0x7d

/** Throws RangeError where JSON is deeper than content may be. */
export function checkDepth(json: Uint8Array): void {
  // What is so deep has as many brackets.
  if (json.length <= 2 * maxJsonDepth) return
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0
    // A bracket of an array is one of an object but for this bit.
    const bracket = byte | 0x20
    if (byte === quote) isInString = !isInString
    else if (isInString) at += byte === backslash ? 1 : 0
    else if (bracket === opening) depth++
    else if (bracket === closing) depth--
    if (depth > maxJsonDepth) throw new RangeError('JSON that is too deep')
  }
}
