/// <reference lib="dom" />
import { expect, it } from 'vitest'
import { resumeInterrupted } from './resume-interrupted.ts'

class Context extends EventTarget {
  state = 'running'
  resumed = 0
  resume = () => {
    this.resumed++
    return Promise.reject(new Error('the call goes on'))
  }

  become(state: string): void {
    this.state = state
    this.dispatchEvent(new Event('statechange'))
  }
}

function interruptible() {
  const context = new Context()
  return { context, stop: resumeInterrupted(context as unknown as AudioContext) }
}

it('what was interrupted is to go on, at once and when that ended', () => {
  const { context, stop } = interruptible()
  context.become('interrupted')
  expect(context.resumed).toBe(1)
  context.become('suspended')
  expect(context.resumed).toBe(2)
  stop()
  context.become('interrupted')
  expect(context.resumed).toBe(2)
})

it('what the page suspended stays so, also after an earlier interruption', () => {
  const { context } = interruptible()
  context.become('interrupted')
  context.become('running')
  context.become('suspended')
  expect(context.resumed).toBe(1)
})
