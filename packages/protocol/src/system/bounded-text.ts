/** The text of an answer over HTTP, UTF-8; undefined when it has more bytes than it may: the rest is not read. Rejects as reading does. */
export async function boundedText(
  { body }: Pick<Response, 'body'>,
  maxBytes: number,
): Promise<string | undefined> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  while (reader !== undefined) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    if (bytes > maxBytes) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
  return text + decoder.decode()
}
