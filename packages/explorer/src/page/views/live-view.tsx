import { useState } from 'preact/hooks'
import { formatCount, formatMs, plural } from '../format.ts'
import { typedContent, type ShownMessage } from '../live/live-log.ts'
import type { MembershipState } from '../live/membership.ts'
import type { Live } from '../live/use-membership.ts'
import { NodeLink } from '../parts/ids.tsx'
import { Stat } from '../parts/stat.tsx'

/** Characters that can be typed into one message. */
const maxTypedChars = 10_000

/** Takes part in the stream part: shows what is published, and publishes. */
export function LiveView({ live }: { readonly live: Live }) {
  const { phase, state, trouble } = live
  return (
    <div class="live">
      <div role="alert" class="notices">
        {trouble !== undefined && <p class="notice">{trouble}</p>}
      </div>
      {phase === 'out' ? (
        <div class="invite">
          <p>
            This page can join the overlay as a node: it connects to other nodes, passes their messages on,
            and shows what is published from now on.
          </p>
          <button type="button" class="primary" onClick={live.join}>
            Join and listen
          </button>
        </div>
      ) : (
        <>
          <div class="live-bar">
            <p role="status">{stateWords(phase, state)}</p>
            <button type="button" class="secondary" onClick={live.leave}>
              Leave
            </button>
          </div>
          {phase === 'in' && <PublishForm publish={live.publish} />}
          <Messages messages={state?.log.messages ?? []} />
        </>
      )}
    </div>
  )
}

function stateWords(phase: Live['phase'], state: MembershipState | undefined): string {
  if (phase === 'joining') return 'Joining…'
  const neighbours = state?.neighbours.length ?? 0
  if (neighbours === 0) return 'Joined; waiting for the first neighbour'
  return `${plural(neighbours, 'neighbour')}, ${plural(state?.received ?? 0, 'message')} received`
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

function Messages({ messages }: { readonly messages: readonly ShownMessage[] }) {
  if (messages.length === 0) return <p class="empty">Nothing was published since this page joined.</p>
  return (
    <ol class="messages" aria-label="Messages, the newest first">
      {messages.map(({ key, publisherId, timestamp, text, delayMs }) => (
        <li key={key}>
          <div class="message-head">
            <NodeLink nodeId={publisherId} />
            <time dateTime={new Date(timestamp).toISOString()}>
              {new Date(timestamp).toLocaleTimeString()}
            </time>
            <span class="number">{formatMs(delayMs)}</span>
          </div>
          <p>{text}</p>
        </li>
      ))}
    </ol>
  )
}

const phaseNames = [
  ['registry', 'Registries read'],
  ['tracker', 'First tracker'],
  ['neighbour', 'First neighbour'],
  ['message', 'First message'],
] as const

/** How this page does as a node. */
export function OwnNode({ state }: { readonly state: MembershipState }) {
  const { nodeId, received, published, neighbours, loadedMs, phases } = state
  return (
    <div class="card">
      <h2>This page</h2>
      <dl class="facts-list">
        {nodeId !== undefined && (
          <Stat label="Node">
            <NodeLink nodeId={nodeId} />
          </Stat>
        )}
        <Stat label="Neighbours">{formatCount(neighbours.length)}</Stat>
        <Stat label="Received">{formatCount(received)}</Stat>
        <Stat label="Published">{formatCount(published)}</Stat>
        <Stat label="Client loaded">{formatMs(loadedMs)}</Stat>
        {phaseNames.map(([phase, label]) => (
          <Stat key={phase} label={label} hint="After the client was loaded">
            {formatMs(phases[phase])}
          </Stat>
        ))}
      </dl>
    </div>
  )
}
