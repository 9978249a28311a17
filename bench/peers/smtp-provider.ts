import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Provider } from './http-provider.ts'

/** A problem with a mail: a reply to MAIL FROM, a connection cut or silence after the mail, a refused recipient. */
export type SmtpProblem = { reply: string } | { cut: 'after' } | { hang: true } | { rejects: string }

/**
 * Starts a provider that speaks as much SMTP as one mail needs.
 *
 * @see https://www.rfc-editor.org/rfc/rfc5321
 */
export async function startSmtpProvider(): Promise<Provider<SmtpProblem>> {
  let problem: SmtpProblem | undefined
  let left = 0
  let requests = 0
  let accepted = 0
  const sockets = new Set<Socket>()

  function converse(socket: Socket): void {
    sockets.add(socket.on('error', () => {}))
    const reply = (line: string) => socket.write(`${line}\r\n`)
    let inData = false
    let now: SmtpProblem | undefined
    reply('220 mail.invalid ESMTP')
    createInterface({ input: socket }).on('line', (line) => {
      const verb = line.slice(0, 4).toUpperCase()
      if (inData) {
        if (line !== '.') return
        inData = false
        if (now && 'hang' in now) return
        accepted += 1
        if (now && 'cut' in now) socket.destroy()
        else reply('250 2.0.0 OK')
      } else if (verb === 'EHLO') reply('250-mail.invalid\r\n250 8BITMIME')
      else if (verb === 'MAIL') {
        requests += 1
        now = left-- > 0 ? problem : undefined
        reply(now && 'reply' in now ? now.reply : '250 2.1.0 OK')
      } else if (verb === 'RCPT') {
        const isRejected = now && 'rejects' in now && line.includes(now.rejects)
        reply(isRejected ? '550 5.1.1 That mailbox is inactive' : '250 2.1.5 OK')
      } else if (verb === 'DATA') {
        inData = true
        reply('354 Go on')
      } else if (verb === 'QUIT') {
        reply('221 Bye')
        socket.end()
      } else reply('250 OK')
    })
  }

  const server = createServer(converse).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    requests: () => requests,
    accepted: () => accepted,
    cause(next, times = Number.POSITIVE_INFINITY) {
      problem = next
      left = times
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
