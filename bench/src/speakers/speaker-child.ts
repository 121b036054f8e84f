import { createClient, type NetworkSource } from '@runnel/client'
import { openSession } from '@runnel/media'
import { roomStep } from '../../../examples/room/room-key.ts'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'
import { repeatTake, type Take } from './take.ts'

let speakers = 0

const speakerCalls = {
  /** So many more members, each a node of its own, which say and show the take without end. */
  async add(count: number, network: NetworkSource, streamId: string, secret: string, take: Take) {
    await Promise.all(
      Array.from({ length: count }, async () => {
        const name = `Speaker ${++speakers}`
        const client = await createClient({ network }, { contentSteps: [await roomStep(secret)] })
        repeatTake(await openSession(streamId, { name }, { client }), take)
      }),
    )
  },
  cpuUs,
}

export type SpeakerCalls = typeof speakerCalls

answerCalls(speakerCalls)
