import { messageNumber, Source, type Swarm } from '../swarm.ts'

const publishEveryMs = 10

/** Nodes that join an overlay one after the other, while its first node publishes. */
export class LiveJoins {
  readonly #swarm: Swarm
  readonly #source: Source
  readonly #feed: NodeJS.Timeout

  /** The swarm has grown already. */
  constructor(swarm: Swarm) {
    this.#swarm = swarm
    this.#source = new Source(swarm)
    this.#feed = setInterval(() => swarm.nodes[0]?.publish(this.#source.next(1)), publishEveryMs)
  }

  /** From the start of a node to its first message of those published after that, in milliseconds. */
  async join(): Promise<number> {
    const node = this.#swarm.createNode()
    const startMs = performance.now()
    const firstNumber = this.#source.count
    const first = new Promise<number>((resolve) =>
      node.on('message', ({ message }) => {
        if (messageNumber(message.content) >= firstNumber) resolve(performance.now() - startMs)
      }),
    )
    await node.start()
    node.join(this.#swarm.streamPartId)
    const elapsedMs = await first
    await node.stop()
    return elapsedMs
  }

  async stop(): Promise<void> {
    clearInterval(this.#feed)
    await this.#swarm.stop()
  }
}
