/** Says until when a certificate was valid that Node does not accept: its own error has only a code. */
import { subscribe } from 'node:diagnostics_channel'
import { TLSSocket } from 'node:tls'

/** Follows each connection of the process: those of HTTP and of Redis alike. */
export function dateCertificates(): void {
  subscribe('net.client.socket', (message) => {
    const socket: unknown = Reflect.get(Object(message), 'socket')
    if (!(socket instanceof TLSSocket)) return
    let certificate: ReturnType<TLSSocket['getPeerX509Certificate']>
    // Before Node's own listener, which closes the connection and forgets the certificate.
    socket.prependListener('secure', () => {
      certificate = socket.getPeerX509Certificate()
    })
    socket.prependListener('error', (error) => {
      if (!socket.authorizationError || !certificate) return
      error.message += ` (valid from ${certificate.validFrom} to ${certificate.validTo})`
    })
  })
}
