/**
 * A text of a contract's answer, or '' where it is not UTF-8: the contracts do not check what anybody writes, and ethers
 * throws when such a text is looked at.
 */
export function textOf(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
