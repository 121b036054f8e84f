import { useEffect, useRef, useState } from 'preact/hooks'
import { formatCount, formatMs, formatRate, shortId, shownText } from '../format.ts'
import { maxKeyFileChars, userOfFiles, type ActsAs } from '../live/acts-as.ts'
import { matching, typedContent, type LiveLog, type ShownMessage } from '../live/live-log.ts'
import { spokenWords, stateWords } from '../live/live-words.ts'
import type { MembershipState } from '../live/membership.ts'
import type { Live } from '../live/use-membership.ts'
import { NodeLink } from '../parts/ids.tsx'
import { Stat } from '../parts/stat.tsx'

/** Characters that can be typed into one message. */
const maxTypedChars = 10_000

/** Takes part in the stream part: shows what is published, and publishes. */
export function LiveView({ live }: { readonly live: Live }) {
  const { phase, state, trouble } = live
  const [filter, setFilter] = useState('')
  /** What is shown while it stands still. */
  const [paused, setPaused] = useState<readonly ShownMessage[]>()
  const messages = state?.log.messages ?? []
  const view = useRef<HTMLDivElement>(null)
  const phaseBefore = useRef(phase)
  useEffect(() => {
    if (phase === 'out') setPaused(undefined)
    // What had the focus may be gone with the phase before.
    if (phase !== phaseBefore.current && !isFocused(document)) view.current?.focus({ preventScroll: true })
    phaseBefore.current = phase
  }, [phase])
  return (
    <div class="live" tabIndex={-1} ref={view}>
      <p role="status" class="visually-hidden">
        {spokenWords(phase, state?.neighbours.length ?? 0, paused !== undefined)}
      </p>
      <div role="alert" class="notices">
        {trouble !== undefined && <p class="notice">{trouble}</p>}
      </div>
      <div role="status" class="notices">
        {live.stored === 'none' && <p class="empty">No stored messages.</p>}
      </div>
      {phase === 'out' ? (
        <Invitation join={live.join} />
      ) : (
        <>
          <div class="live-bar">
            <p>
              {stateWords(phase, state)}
              {state !== undefined && phase === 'in' && <Rate log={state.log} />}
              {paused !== undefined && ' · paused'}
            </p>
            {phase === 'in' && (
              <>
                <button
                  type="button"
                  class="secondary"
                  aria-pressed={paused !== undefined}
                  onClick={() => setPaused(paused === undefined ? messages : undefined)}
                >
                  {paused === undefined ? 'Pause' : 'Continue'}
                </button>
                <button
                  type="button"
                  class="secondary"
                  disabled={live.stored === 'reading'}
                  onClick={live.readStored}
                >
                  {live.stored === 'reading' ? 'Reading stored messages…' : 'Show stored messages'}
                </button>
              </>
            )}
            <button type="button" class="secondary" onClick={live.leave}>
              Leave
            </button>
          </div>
          {phase === 'in' && state?.mayPublish === true && <PublishForm publish={live.publish} />}
          {phase === 'in' && state?.mayPublish === false && (
            <p class="empty">The user of this page may read this stream, but not publish to it.</p>
          )}
          {messages.length > 0 && (
            <input
              type="search"
              class="filter"
              value={filter}
              maxLength={200}
              placeholder="Show only messages with …"
              aria-label="Show only messages that contain this text, or whose publisher id does"
              onInput={({ currentTarget }) => setFilter(currentTarget.value)}
            />
          )}
          <Messages messages={matching(paused ?? messages, filter)} isFiltered={messages.length > 0} />
        </>
      )}
    </div>
  )
}

/** Whether something on the page has the focus. */
function isFocused({ activeElement, body }: Document): boolean {
  return activeElement !== null && activeElement !== body
}

function Invitation({ join }: Pick<Live, 'join'>) {
  return (
    <div class="invite">
      <p>
        This page can join the overlay as a node: it connects to other nodes, forwards their messages, and
        shows messages published from now on.
      </p>
      <button type="button" class="primary" onClick={() => join(Promise.resolve({ kind: 'nobody' }))}>
        Join and listen
      </button>
      <p>
        A stream that is not public is encrypted. Join as a user who may read it, with a wallet or a key file;
        with a delegation file, choose the reading key file as well. Keys stay in the memory of this tab until
        you leave. Use your keys only if you trust the tracker that serves this page.
      </p>
      <div class="ways">
        <button type="button" class="secondary" onClick={() => join(Promise.resolve({ kind: 'wallet' }))}>
          Join with a wallet
        </button>
        <label class="secondary">
          Join with key files
          <input
            type="file"
            multiple
            onChange={({ currentTarget: { files } }) => {
              if (files !== null && files.length > 0) join(asOwnerOf([...files]))
            }}
          />
        </label>
      </div>
    </div>
  )
}

async function asOwnerOf(files: readonly File[]): Promise<ActsAs> {
  const texts = await Promise.all(files.map((file) => file.slice(0, maxKeyFileChars).text()))
  return { kind: 'files', user: userOfFiles(texts) }
}

/** How many messages come; looked at again while none does. */
function Rate({ log }: { readonly log: LiveLog }) {
  const [, look] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => look((times) => times + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  return <span class="rate"> · {formatRate(log.ratePerSecond(Date.now()))}</span>
}

function PublishForm({ publish }: { readonly publish: Live['publish'] }) {
  const [typed, setTyped] = useState('')
  const [isSending, setSending] = useState(false)
  const { kind, content } = typedContent(typed)
  // `publish` shows its failures itself.
  const submit = async (event: Event) => {
    event.preventDefault()
    if (typed === '' || isSending) return
    setSending(true)
    if (await publish(content)) setTyped('')
    setSending(false)
  }
  return (
    <form class="publish" onSubmit={(event) => void submit(event)}>
      <input
        value={typed}
        maxLength={maxTypedChars}
        placeholder="Write a message"
        aria-label="Message"
        autocomplete="off"
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={typed === '' || isSending}>
        {typed === '' ? 'Publish' : `Publish ${kind}`}
      </button>
    </form>
  )
}

function Messages({
  messages,
  isFiltered,
}: {
  readonly messages: readonly ShownMessage[]
  readonly isFiltered: boolean
}) {
  if (messages.length === 0)
    return (
      <p class="empty">
        {isFiltered ? 'No message matches.' : 'Nothing has been published since this page joined.'}
      </p>
    )
  return (
    <ol class="messages" aria-label="Messages, newest first">
      {messages.map((message) => (
        <li key={message.id}>
          <div class="message-head">
            <NodeLink nodeId={message.publisherId} />
            <time dateTime={new Date(message.timestamp).toISOString()}>
              {new Date(message.timestamp).toLocaleTimeString()}
            </time>
            {message.keyId !== undefined && (
              <span title="Id of the key that the content is encrypted with">
                key <code>{shownText(message.keyId)}</code>
              </span>
            )}
            <span class="number">{message.delayMs === undefined ? 'stored' : formatMs(message.delayMs)}</span>
          </div>
          <Content message={message} />
        </li>
      ))}
    </ol>
  )
}

function Content({ message: { text, trouble, keyId } }: { readonly message: ShownMessage }) {
  if (text !== undefined) return <p>{text}</p>
  if (keyId === undefined) return <p class="unread">{trouble ?? '…'}</p>
  return (
    <p class="unread">
      <strong>Encrypted.</strong> {trouble ?? lookingForKey}
    </p>
  )
}

const lookingForKey =
  'Looking for its key, for up to 30 s. If the user of this page may not read it, leave and join as a user who may.'

const phaseNames = [
  ['registry', 'Registries read'],
  ['tracker', 'First tracker'],
  ['neighbour', 'First neighbour'],
  ['message', 'First message'],
] as const

/** How this page does as a node. */
export function OwnNode({ state }: { readonly state: MembershipState }) {
  const { nodeId, userId, received, published, neighbours, loadedMs, phases } = state
  return (
    <div class="card">
      <h2>This page</h2>
      <dl class="facts-list">
        {nodeId !== undefined && (
          <Stat label="Node">
            <NodeLink nodeId={nodeId} />
          </Stat>
        )}
        {userId !== undefined && userId !== nodeId && (
          <Stat label="User">
            <span title={userId}>{shortId(userId)}</span>
          </Stat>
        )}
        <Stat label="Neighbours">{formatCount(neighbours.length)}</Stat>
        <Stat label="Received">{formatCount(received)}</Stat>
        <Stat label="Published">{formatCount(published)}</Stat>
        <Stat label="Client loaded">{formatMs(loadedMs)}</Stat>
        {phaseNames.map(([phase, label]) => (
          <Stat key={phase} label={label} hint="Time since the client was loaded">
            {formatMs(phases[phase])}
          </Stat>
        ))}
      </dl>
    </div>
  )
}
