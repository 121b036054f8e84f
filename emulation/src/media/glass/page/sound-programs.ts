/// <reference lib="dom" />
/**
 * What runs in the thread that makes sound. `mouth` hums, and clicks for 30 ms at each full second or what it is told; `ear` says when a click
 * begins. Both go by the wall clock of the machine when a block of samples is made, which is some 10 ms of sound at a time.
 */
const programs = `
registerProcessor('mouth', class extends AudioWorkletProcessor {
  constructor({ processorOptions: { everyMs } }) {
    super()
    this.everyMs = everyMs
    this.turn = Math.floor(Date.now() / everyMs)
    this.sample = 0
    this.clickUntil = 0
  }
  process(inputs, [[channel]]) {
    const nowMs = Date.now()
    const turn = Math.floor(nowMs / this.everyMs)
    if (turn !== this.turn) {
      this.turn = turn
      this.clickUntil = this.sample + 0.03 * sampleRate
      this.port.postMessage(nowMs)
    }
    for (let i = 0; i < channel.length; i++, this.sample++)
      channel[i] = (this.sample < this.clickUntil ? 0.8 : 0.02) * Math.sin(2 * Math.PI * 1000 * this.sample / sampleRate)
    return true
  }
})
registerProcessor('ear', class extends AudioWorkletProcessor {
  loudMs = 0
  process([[channel]]) {
    if (channel === undefined || !channel.some((sample) => Math.abs(sample) > 0.3)) return true
    const nowMs = Date.now()
    if (nowMs - this.loudMs > 200) this.port.postMessage(nowMs)
    this.loudMs = nowMs
    return true
  }
})`

export async function soundContext(): Promise<AudioContext> {
  const context = new AudioContext({ sampleRate: 48_000 })
  await context.resume()
  return context
}

export async function addSoundPrograms(context: AudioContext): Promise<void> {
  const url = URL.createObjectURL(new Blob([programs], { type: 'text/javascript' }))
  await context.audioWorklet.addModule(url).finally(() => URL.revokeObjectURL(url))
}
