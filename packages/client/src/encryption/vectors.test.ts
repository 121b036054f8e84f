import { ciphers, pageCiphers } from '@runnel/protocol'
import { describeEncryption } from './vectors-suite.testkit.ts'

describeEncryption('Node', ciphers)
describeEncryption('pages', pageCiphers)
