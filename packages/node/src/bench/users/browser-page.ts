/** The page of a user that is a browser. It is driven from outside by `bench`, and says what came by calling `benchReceived`. */
export const browserPage: string = `<!doctype html><meta charset="utf-8"><title>Runnel bench</title><link rel="icon" href="data:,">
<script type="module">
const { createClient } = await import('/runnel.js')
const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
const textOf = (bytes) => btoa(String.fromCharCode(...bytes))
let client
let part
globalThis.bench = {
  async open({ config, streamId, partition, subscribes, urgent }) {
    client = await createClient(config)
    part = { streamId, partition }
    const deliver = ({ content }) => {
      if (content instanceof Uint8Array)
        void globalThis.benchReceived(textOf(content), performance.timeOrigin + performance.now())
    }
    if (subscribes) {
      const subscription = await client.subscribe(streamId, { partitions: [partition], urgent }, deliver)
      await subscription.waitForNeighbours({ orAlone: true })
    } else await client.joinStreamPart(streamId, partition)
  },
  publish: (text, urgent) =>
    client.publish(part.streamId, bytesOf(text), { partition: part.partition, ...(urgent ? { urgent: true } : {}) }).then(() => undefined),
  neighbours() {
    const name = part.streamId + '#' + part.partition
    const found = client.network.metrics().streamParts.find(({ streamPartId }) => streamPartId === name)
    return { has: found?.neighbours.length ?? 0, wants: found?.wantedNeighbours ?? 0 }
  },
}
</script>`
