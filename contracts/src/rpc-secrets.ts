/** What is secret of the URL of a chain's endpoint, kept out of what people and logs are told. */
export interface RpcSecrets {
  /** The endpoint as it may be shown: scheme, host and port. Providers put the API key into the path, others into the query. */
  readonly shown: string
  /** The text without the secrets. */
  scrubText(text: string): string
  /**
   * What was thrown, without the secrets in its texts, its stack and its causes; of other fields only `code`, and the `data` of a
   * revert, are left. Errors of ethers carry the request with its URL and the answer in their fields and in their messages.
   */
  scrubError(thrown: unknown): Error
}

/** Shorter pieces of a URL are no keys, and would be found in any text. */
const minSecretChars = 4
/** Causes of causes that are kept. */
const maxCauses = 5

/** Of one URL, or of all endpoints of a chain. */
export function rpcSecrets(rpcUrl: string | readonly string[]): RpcSecrets {
  const urls = [rpcUrl].flat().map((text) => ({ text, url: URL.parse(text) }))
  const secrets = urls
    .flatMap(({ text, url }) => (url === null ? [text] : secretsOf(url)))
    // The longest first, so that none is left in part.
    .sort((a, b) => b.length - a.length)
  const scrubText = (text: string): string =>
    secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '[secret]'), text)
  const scrub = (thrown: unknown, causesLeft: number): Error => {
    if (!(thrown instanceof Error)) return new Error(scrubText(String(thrown)))
    const { name, message, stack = '', cause } = thrown
    const { shortMessage = message, code, data } = thrown as EthersError
    const text = scrubText(shortMessage)
    const error = new Error(text, cause && causesLeft > 0 ? { cause: scrub(cause, causesLeft - 1) } : {})
    const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
    error.name = name
    error.stack = [`${name}: ${text}`, ...frames.map(scrubText)].join('\n')
    return Object.assign(error, code === undefined ? {} : { code }, data === undefined ? {} : { data })
  }
  const shown = [...new Set(urls.map(({ url }) => url?.origin ?? 'not a URL'))].join(', ')
  return { shown, scrubText, scrubError: (thrown) => scrub(thrown, maxCauses) }
}

interface EthersError {
  /** The message without the fields that ethers adds to it. */
  readonly shortMessage?: string
  readonly code?: unknown
  readonly data?: unknown
}

/** As written and as meant. */
function secretsOf(url: URL): string[] {
  const { username, password, pathname, search, hash } = url
  const query = [...new URLSearchParams(search)].flat()
  const written = [username, password, ...pathname.split('/'), search.slice(1), hash.slice(1), ...query]
  const all = new Set([...written, ...written.map(meantBy), ...basicAuthorization(url)])
  return [...all].filter((text) => text.length >= minSecretChars)
}

/** What a request's header makes of a user and a password. */
function basicAuthorization({ username, password }: URL): string[] {
  if (username === '' && password === '') return []
  const bytes = new TextEncoder().encode(`${meantBy(username)}:${meantBy(password)}`)
  return [btoa(String.fromCharCode(...bytes))]
}

function meantBy(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}
