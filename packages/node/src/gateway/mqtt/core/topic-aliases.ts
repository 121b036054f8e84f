import { MqttProblem, Reason } from './reasons.ts'

/** The numbers a client has given its topics (MQTT 5, section 3.3.2.3.4). */
export class TopicAliases {
  readonly #maxTopicAliases: number
  readonly #topics = new Map<number, string>()

  constructor({ maxTopicAliases }: { readonly maxTopicAliases: number }) {
    this.#maxTopicAliases = maxTopicAliases
  }

  /** The topic of a message. Throws MqttProblem. */
  resolve(topic: string, alias: number | undefined): string {
    if (alias === undefined) {
      if (topic === '') throw new MqttProblem(Reason.protocolError, 'no topic and no alias')
      return topic
    }
    if (alias < 1 || alias > this.#maxTopicAliases)
      throw new MqttProblem(Reason.aliasInvalid, `a topic alias of ${alias}`)
    if (topic === '') {
      const known = this.#topics.get(alias)
      if (known === undefined) throw new MqttProblem(Reason.protocolError, 'an alias that stands for nothing')
      return known
    }
    this.#topics.set(alias, topic)
    return topic
  }
}
