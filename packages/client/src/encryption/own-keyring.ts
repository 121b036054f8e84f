import { isRunnelError, isSameBytes, keyBytes, type Ciphers, type Random } from '@runnel/protocol'
import { Keyring } from './keyring.ts'

export interface OwnKeyringModules {
  readonly ciphers: Ciphers
  readonly random: Random
  /** Of this user in this stream, the same in each of its processes; undefined where this process has no reading key. Throws where it cannot be had now. */
  readonly keyringMaster: (signal: AbortSignal) => Promise<Uint8Array | undefined>
  /** There is another keyring than before: what was made with that one is no use to it. */
  readonly onNew: () => void
}

/** The user's keyring of a stream, as soon as it can be had; until then, or where there is none, one of this process. */
export class OwnKeyring {
  readonly #modules: OwnKeyringModules
  #keyring: Keyring | undefined
  #isShared = false
  #isMakeshift = false

  constructor(modules: OwnKeyringModules) {
    this.#modules = modules
  }

  get current(): Keyring | undefined {
    return this.#keyring
  }

  /** All processes of the user have the same one. */
  get isShared(): boolean {
    return this.#isShared
  }

  /** The user's own could not be had yet. */
  get isMakeshift(): boolean {
    return this.#isMakeshift
  }

  /** The present one; looks for the user's own while there is none, or a makeshift, and for the next where the user's reading key was renewed. */
  async load(signal: AbortSignal): Promise<Keyring> {
    const { keyringMaster, random, ciphers, onNew } = this.#modules
    const before = this.#keyring
    if (before !== undefined && !this.#isMakeshift && !this.#isShared) return before
    let master: Uint8Array | undefined
    let isMakeshift = false
    try {
      master = await keyringMaster(signal)
    } catch (error) {
      if (signal.aborted || !isRunnelError(error)) throw error
      isMakeshift = true
    }
    const known = this.#keyring
    if (known !== undefined && (known !== before || isMakeshift)) return known
    // What all processes have is not given up for one that this process has alone.
    if (known !== undefined && this.#isShared && master === undefined) return known
    const keyring = new Keyring({ master: master ?? random.bytes(keyBytes) }, { ciphers })
    if (known !== undefined && isSameBytes(known.id, keyring.id)) return known
    this.#isShared = master !== undefined
    this.#isMakeshift = isMakeshift
    onNew()
    return (this.#keyring = keyring)
  }

  /** Whether what others sealed for this user can be opened here, and no person has to be asked. */
  async canBeHad(signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#modules.keyringMaster(signal)) !== undefined
    } catch (error) {
      if (signal.aborted || !isRunnelError(error)) throw error
      return false
    }
  }
}
