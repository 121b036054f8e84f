import type { BrokerConfigInput } from '../config/schema.ts'

/** What `runnel node init` has to know. */
export interface NodeAnswers {
  readonly network: string
  readonly key: string
  readonly streams: readonly string[]
  /** Address to listen on for other nodes. */
  readonly host: string
  /** Empty: its own address. */
  readonly publicUrl: string
  readonly websocketPort: number
  readonly httpPort: number
  readonly storage: boolean
}

/** The configuration to write: what is as by default is left out, but for what people look for first. */
export function configOfAnswers(answers: NodeAnswers): BrokerConfigInput {
  const { network, key, streams, host, publicUrl, websocketPort, httpPort, storage } = answers
  return {
    ...{ network, key, streams: [...streams] },
    websocket: { host, port: websocketPort, ...(publicUrl === '' ? {} : { publicUrl }) },
    http: { port: httpPort },
    ...(storage ? { storage: { enabled: true } } : {}),
  }
}
