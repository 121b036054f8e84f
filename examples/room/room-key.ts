import type { ContentStep } from '@runnel/client/browser'

/** AES-256-GCM, as messages say it; with the nonce before the content. */
export const aes256gcm = 1
export const nonceBytes = 12

/** What stands behind # in the address of a room; browsers send it to nobody. */
export function newRoomSecret(): string {
  return toText(crypto.getRandomValues(new Uint8Array(32)))
}

/**
 * Seals what is published with the secret of the room, bound to its publisher and chain. Who has the link reads and speaks; there is no way to
 * take it back but another link. Where members are known by name, use a stream with permissions, which is encrypted by itself.
 */
export async function roomStep(secret: string): Promise<ContentStep> {
  const bytes = secretBytes(secret)
  const key = await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const groupKeyId = await keyIdOf(bytes)
  return {
    name: 'room',
    seal: (messages, { chain }) =>
      Promise.all(
        messages.map(async (message) => {
          const iv = crypto.getRandomValues(new Uint8Array(nonceBytes))
          const algorithm = { name: 'AES-GCM', iv, additionalData: placeOf(chain, message.contentType) }
          const sealed = await crypto.subtle.encrypt(algorithm, key, new Uint8Array(message.content))
          const content = new Uint8Array([...iv, ...new Uint8Array(sealed)])
          return { ...message, encryptionType: aes256gcm, groupKeyId, content }
        }),
      ),
    isSealed: (message) => message.encryptionType === aes256gcm && message.groupKeyId === groupKeyId,
    open: async (message) => {
      const [iv, sealed] = [message.content.slice(0, nonceBytes), message.content.slice(nonceBytes)]
      const algorithm = { name: 'AES-GCM', iv, additionalData: placeOf(message, message.contentType) }
      const content = new Uint8Array(await crypto.subtle.decrypt(algorithm, key, sealed))
      return { ...message, encryptionType: 0, groupKeyId: '', content }
    },
  }
}

/** Stands in the clear, so that messages of other rooms in the same stream are not tried. */
export async function keyIdOf(secret: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array([...utf8('room'), ...secret]))
  return toText(new Uint8Array(digest, 0, 12))
}

interface Place {
  readonly streamId: string
  readonly partition: number
  readonly publisherId: string
  readonly messageChainId: string
}

const utf8 = (text: string) => new TextEncoder().encode(text)

/** What a sealed message is bound to. */
export function placeOf({ streamId, partition, publisherId, messageChainId }: Place, contentType: number) {
  return utf8(JSON.stringify([streamId, partition, publisherId, messageChainId, contentType]))
}

/** Base64 for addresses (RFC 4648, section 5). */
function toText(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Whether what stands behind # is whole. */
export const isRoomSecret = (text: string): boolean => /^[\w-]{43}$/.test(text)

export const incompleteLink = 'This is not the complete link of a room. Ask for it again.'

/** Throws where it is no secret of a room. */
export function secretBytes(text: string): Uint8Array<ArrayBuffer> {
  if (!isRoomSecret(text)) throw new Error(incompleteLink)
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}
