import { isRunnelError, type Message, type RunnelClient } from '@runnel/client/browser'
import { useEffect, useState } from 'react'
import { join, streamCalled } from '../shared/page.ts'

export interface Loading<T> {
  /** Undefined until it is there. */
  readonly value: T | undefined
  /** Why it does not come, as a sentence. */
  readonly trouble: string | undefined
}

const nothingYet = { value: undefined, trouble: undefined }

/** This page as a node of the network it was served for; it leaves with the component. */
export function useClient(): Loading<RunnelClient> {
  const [state, setState] = useState<Loading<RunnelClient>>(nothingYet)
  useEffect(() => {
    const joining = join()
    joining.then(
      (value) => setState({ value, trouble: undefined }),
      (error: unknown) => setState({ value: undefined, trouble: sentenceOf(error) }),
    )
    return () => void joining.then((client) => client.close()).catch(() => {})
  }, [])
  return state
}

/** The newest messages of the stream with a path, the newest last; anew with each that comes. Leaves the stream with the component. */
export function useStream(
  client: RunnelClient | undefined,
  path: string,
  maxMessages: number,
): Loading<readonly Message[]> {
  const [state, setState] = useState<Loading<readonly Message[]>>(nothingYet)
  useEffect(() => {
    if (client === undefined) return
    const ended = new AbortController()
    const { signal } = ended
    const follow = async () => {
      const stream = await streamCalled(client, path)
      for await (const message of await client.subscribe(stream, { signal }))
        setState(({ value = [] }) => ({ value: [...value, message].slice(-maxMessages), trouble: undefined }))
    }
    follow().catch((error: unknown) => {
      if (!signal.aborted) setState({ value: undefined, trouble: sentenceOf(error) })
    })
    return () => {
      ended.abort()
      setState(nothingYet)
    }
  }, [client, path, maxMessages])
  return state
}

function sentenceOf(error: unknown): string {
  const remedy = isRunnelError(error) ? `. ${error.remedy}` : ''
  return error instanceof Error ? `${error.message}${remedy}` : String(error)
}
