import { createCipheriv, randomBytes } from 'node:crypto'
import {
  aes256gcm,
  keyIdOf,
  nonceBytes,
  placeOf,
  roomStep,
  secretBytes,
} from '../../../examples/room/room-key.ts'

/** As `roomStep`, but it seals within the call: Web Cryptography goes by way of another thread, which costs more than the work itself. */
export async function quickRoomStep(secret: string): ReturnType<typeof roomStep> {
  const key = secretBytes(secret)
  const groupKeyId = await keyIdOf(key)
  return {
    ...(await roomStep(secret)),
    seal: (messages, { chain }) =>
      messages.map((message) => {
        const iv = randomBytes(nonceBytes)
        const cipher = createCipheriv('aes-256-gcm', key, iv)
        cipher.setAAD(placeOf(chain, message.contentType))
        const sealed = [cipher.update(message.content), cipher.final(), cipher.getAuthTag()]
        const content = new Uint8Array(Buffer.concat([iv, ...sealed]))
        return { ...message, encryptionType: aes256gcm, groupKeyId, content }
      }),
  }
}
