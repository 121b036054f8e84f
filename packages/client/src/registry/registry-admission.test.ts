import { toNodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { RegistryAdmission } from './registry-admission.ts'

const [a, b] = [toNodeId(`0x${'a'.repeat(40)}`), toNodeId(`0x${'b'.repeat(40)}`)]

describe('the admission of a registry', () => {
  it('is open to all where nobody is listed by name, and to nobody where the list is empty', () => {
    const admission = new RegistryAdmission()
    expect([admission.allows(a), admission.isPrivate]).toEqual([true, false])
    admission.setNodes([])
    expect([admission.allows(a), admission.isPrivate]).toEqual([false, true])
  })

  it('follows the list, and tells of changes only', () => {
    const admission = new RegistryAdmission()
    const heard: boolean[] = []
    const stop = admission.onChange(() => heard.push(admission.allows(a)))
    admission.setNodes(undefined)
    admission.setNodes([a, b])
    admission.setNodes([b, a])
    admission.setNodes([b])
    admission.setNodes([a])
    expect(heard).toEqual([true, false, true])
    stop()
    admission.setNodes([])
    expect([heard.length, admission.allows(a)]).toEqual([3, false])
  })
})
