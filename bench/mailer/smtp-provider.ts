/**
 * A provider that speaks SMTP, as far as one mail needs it (RFC 5321).
 *
 * @module
 */
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Mood, type Provider, portOf } from './http-provider.ts'

/** An `answer` is the reply to MAIL FROM, its `body` the whole line; `left-out` refuses that one recipient. */
export async function startSmtpProvider(): Promise<Provider> {
  let mood: Mood = { kind: 'well' }
  let left = Number.POSITIVE_INFINITY
  let requests = 0
  let accepted = 0
  const sockets = new Set<Socket>()

  function converse(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
    const say = (line: string) => socket.write(`${line}\r\n`)
    let inData = false
    let now: Mood = { kind: 'well' }
    say('220 mail.invalid ESMTP')
    createInterface({ input: socket }).on('line', (line) => {
      if (inData) {
        if (line !== '.') return
        inData = false
        if (now.kind === 'hang') return
        accepted += 1
        if (now.kind === 'cut') socket.destroy()
        else say('250 2.0.0 OK')
        return
      }
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'EHLO') say('250-mail.invalid\r\n250 8BITMIME')
      else if (verb === 'MAIL') {
        requests += 1
        now = left > 0 ? mood : { kind: 'well' }
        left -= 1
        say(now.kind === 'answer' ? now.body : '250 2.1.0 OK')
      } else if (verb === 'RCPT') {
        const refused = now.kind === 'left-out' && line.includes(now.address)
        say(refused ? '550 5.1.1 That mailbox is inactive' : '250 2.1.5 OK')
      } else if (verb === 'DATA') {
        inData = true
        say('354 Go on')
      } else if (verb === 'QUIT') {
        say('221 Bye')
        socket.end()
      } else say('250 OK')
    })
  }

  const server = createServer(converse)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: portOf(server),
    get requests() {
      return requests
    },
    get accepted() {
      return accepted
    },
    become(next, times = Number.POSITIVE_INFINITY) {
      mood = next
      left = times
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
