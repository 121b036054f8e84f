import type { StaticNetwork } from '@runnel/client'
import type { Tracker } from '@runnel/tracker'
import { freePort } from '@runnel/transport'
import { newAccount } from '../../../client/src/client.testkit.ts'
import { startTracker } from '../../../browser/src/network.testkit.ts'
import { startStorage, type TestStorage } from '../../../browser/src/storage.testkit.ts'
import { MediaPages, type MediaPage } from './pages.testkit.ts'

const [owner, keeper] = [newAccount(), newAccount()]
const room = `${owner.nodeId}/room`

/** A recording that a real storage node keeps, of a page that shows the time and hears somebody speak. */
export class RecordedMeeting {
  readonly streamId = `${owner.nodeId}/kept`
  readonly pages: MediaPages
  readonly #tracker: Tracker
  readonly #storage: TestStorage
  readonly #network: { readonly kind: 'static'; readonly document: StaticNetwork }

  private constructor(
    pages: MediaPages,
    parts: {
      readonly tracker: Tracker
      readonly storage: TestStorage
      readonly network: { readonly kind: 'static'; readonly document: StaticNetwork }
    },
  ) {
    this.pages = pages
    this.#tracker = parts.tracker
    this.#storage = parts.storage
    this.#network = parts.network
  }

  static async start(): Promise<RecordedMeeting> {
    const [port, tracker] = await Promise.all([freePort(), startTracker()])
    const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
    const storageNodes = [{ nodeId: keeper.nodeId, url: `ws://127.0.0.1:${port}` }]
    const streams = [
      { id: room, partitions: 4, permissions },
      { id: `${owner.nodeId}/kept`, partitions: 5, permissions, storageNodes },
    ]
    const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
    const network = { kind: 'static' as const, document: { version: 1 as const, trackers, streams } }
    const storage = await startStorage({ network, privateKey: keeper.privateKey }, { port })
    return new RecordedMeeting(await MediaPages.start(), { tracker, storage, network })
  }

  /** So many frames; the page that publishes records itself. Throws where any is missing. */
  async record(frames: number): Promise<void> {
    const ada = await this.pages.open()
    await ada.call('open', { network: this.#network }, room, 'Ada')
    await ada.call('record', room, this.streamId)
    await ada.call('publishClock')
    await ada.call('publishMicrophone')
    await ada.call('untilRecorded', frames)
    const { failed, keysLeftOut } = await ada.call('stopRecording')
    const faults = await ada.call('recordingFaults')
    if (failed + keysLeftOut + faults.length > 0) throw new Error(`not recorded: ${failed}, ${faults.join()}`)
    await ada.page.context().close()
  }

  /** A page that has opened it. */
  async open(): Promise<MediaPage> {
    const page = await this.pages.open()
    await page.call('join', { network: this.#network })
    await page.call('openRecording', this.streamId)
    return page
  }

  /** In a new page: from the start of a client to the first picture, in milliseconds. */
  async timeToPicture(): Promise<number> {
    const page = await this.pages.open()
    const ms = await page.call('openTimed', { network: this.#network }, this.streamId)
    await page.page.context().close()
    return ms
  }

  async stop(): Promise<void> {
    await this.pages.close()
    await this.#storage.stop()
    await this.#tracker.stop()
  }
}
