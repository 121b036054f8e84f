import {
  createClient,
  isRunnelError,
  type ClientConfig,
  type ClientModules,
  type NetworkSource,
  type RunnelClient,
} from '@runnel/client/browser'

/** Where the browser keeps what somebody is called. */
const nameKey = 'runnel-chat-name'

/** Messages shown; older ones are taken off the page. */
const maxShown = 100

/** Joins the network that this page was served for, as a user of its own or as the one who is given. */
export async function join(
  user: Pick<ClientConfig, 'privateKey'> = {},
  modules: Pick<ClientModules, 'contentSteps'> = {},
): Promise<RunnelClient> {
  const response = await fetch('network.json')
  const network = (await response.json()) as NetworkSource
  return createClient({ network, ...user }, modules)
}

/** The id of the network's stream with this path. */
export async function streamCalled(client: RunnelClient, path: string): Promise<string> {
  const stream = (await client.listStreams()).find(({ id }) => id.endsWith(`/${path}`))
  if (stream === undefined)
    throw new Error(
      `This network has no stream called ${path}. Check the link, or ask whoever gave it to you for another one.`,
    )
  return stream.id
}

/** The element with an id. */
export function element<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new Error(`the page has no ${type.name} ${id}`)
}

/** Puts a message on top of the list, or below the others. What strangers say is text, and nothing else. */
export function show(from: string, text: string, where: 'top' | 'bottom' = 'top'): void {
  const messages = element('messages', HTMLOListElement)
  const item = document.createElement('li')
  const author = document.createElement('small')
  author.textContent = from
  item.append(author, text)
  if (where === 'top') messages.prepend(item)
  else {
    // Who reads what was said earlier is not taken away from there.
    const isAtEnd = messages.scrollHeight - messages.scrollTop - messages.clientHeight < 40
    messages.append(item)
    if (isAtEnd) messages.scrollTop = messages.scrollHeight
  }
  while (messages.childElementCount > maxShown)
    (where === 'top' ? messages.lastElementChild : messages.firstElementChild)?.remove()
}

/** What somebody was called last in this browser; nothing where it keeps nothing. */
export function keptName(): string {
  try {
    return localStorage.getItem(nameKey) ?? ''
  } catch {
    return ''
  }
}

/** Where the browser keeps nothing, or has no room, the name is typed again the next time. */
export function keepName(name: string): void {
  try {
    localStorage.setItem(nameKey, name)
  } catch {
    // It is of use now all the same.
  }
}

/** Whether everything is filled in that has to be, with more than spaces; the browser points at what is not. Spaces around what was typed are taken away. */
export function isComplete(form: HTMLFormElement): boolean {
  for (const input of form.querySelectorAll('input')) input.value = input.value.trim()
  return form.reportValidity()
}

/** What somebody typed, when they send a form; the field `text` is emptied. */
export function onSubmit(id: string, send: (fields: FormData) => Promise<unknown>): void {
  const form = element(id, HTMLFormElement)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!isComplete(form)) return
    const fields = new FormData(form)
    if (fields.get('text') === '') return
    send(fields).then(() => {
      const text = form.elements.namedItem('text')
      if (text instanceof HTMLInputElement) text.value = ''
    }, sayWhatFailed)
  })
}

export function say(state: string): void {
  element('state', HTMLParagraphElement).textContent = state
}

/** What went wrong, and what helps where that is known. */
export function failureText(error: unknown): string {
  const remedy = isRunnelError(error) ? `. ${error.remedy}` : ''
  return error instanceof Error ? `${error.message}${remedy}` : String(error)
}

export function sayWhatFailed(error: unknown): void {
  say(failureText(error))
}

/** Runs a page, and says what went wrong. */
export function run(main: () => Promise<void>): void {
  main().catch(sayWhatFailed)
}
