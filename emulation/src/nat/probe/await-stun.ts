import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'

// Ends when a STUN server answers a Binding request (RFC 8489, section 5), which is sent until then.
const resendAfterMs = 50
const [address = '', port = ''] = process.argv.slice(2)
const socket = createSocket('udp4')
const request = Buffer.concat([Buffer.from('000100002112a442', 'hex'), randomBytes(12)])
const ask = () => socket.send(request, Number(port), address)
const timer = setInterval(ask, resendAfterMs)
socket.once('message', () => {
  clearInterval(timer)
  socket.close()
})
ask()
