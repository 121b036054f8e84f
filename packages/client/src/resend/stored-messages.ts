import type { Clock } from '@runnel/protocol'
import { anyOf } from '../deadline.ts'
import type { Gate } from '../gate.ts'
import type { RecordingReaderModules } from '../record/read-recording.ts'
import type { Message } from '../subscribe/message.ts'
import { PacedPlayback, type Playback, type PlaybackOptions, type ReadFrom } from './playback.ts'
import { resend, type ResendModules, type ResendOptions } from './resend.ts'
import type { HistorySelection } from './selection.ts'

export interface StoredMessagesModules extends ResendModules, Pick<RecordingReaderModules, 'node'> {
  readonly gate: Pick<Gate, 'member'>
  readonly clock: Clock
}

/** Stored messages as an application reads them: as fast as it takes them, or at their own pace; what is recorded in them as well. */
export class StoredMessages {
  readonly #modules: StoredMessagesModules

  constructor(modules: StoredMessagesModules) {
    this.#modules = modules
  }

  /** Whether the client may is asked with the first message. */
  async *resend(
    streamId: string,
    selection: HistorySelection,
    options: ResendOptions,
  ): AsyncGenerator<Message, void, undefined> {
    const { gate, history } = this.#modules
    const id = gate.member(streamId)
    const { recording = false, raw, schema, asBytes, ...rest } = options
    if (!recording) return yield* resend(id, selection, options, this.#modules)
    const { readRecording } = await import('../record/read-recording.ts')
    const recorded = resend(id, selection, { ...rest, asBytes: true }, this.#modules)
    const { onUndecodable } = rest
    const signal = anyOf(rest.signal, history.closing)
    const modules = { ...this.#modules, check: history.check }
    yield* readRecording(recorded, { raw, schema, asBytes, onUndecodable, signal }, modules)
  }

  playback(
    streamId: string,
    selection: HistorySelection,
    { speed = 1, signal, ...rest }: PlaybackOptions,
  ): Playback {
    const { history, clock } = this.#modules
    const { closing } = history
    const untilEnded = anyOf(signal, closing)
    const read: ReadFrom = (wanted, ending) =>
      this.resend(streamId, wanted, { ...rest, signal: anyOf(untilEnded, ending) })
    return new PacedPlayback({ selection, speed }, { read, clock, signal: untilEnded })
  }
}
