import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMailer } from '../../../packages/mailer/src/index.ts'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { createHttp2Gateway } from '../../shared/http2-gateway.ts'
import { quote, sentTwice } from '../checks.ts'
import { sendEmail } from '../events.ts'
import { arranged, type Findings, type Scenario, type World } from '../run.ts'
import { startStaleProxy } from '../stale-proxy.ts'

export const keepAlive: Scenario = {
  name: 'keep-alive',
  shows: 'the provider closes connections at the moment of the next send: none is unknown',
  async run({ seeds }) {
    const sends = seeds > 1 ? 200 : 40
    const stale = await sendOverStale(sends)
    const goodbyes = await sendOverGoodbyes(sends)
    return {
      figures: { ...stale.figures, ...goodbyes.figures },
      violations: [...stale.violations, ...goodbyes.violations],
    }
  },
}

/** Sends mails through a host to a provider that offers HTTP/2, and often says goodbye or refuses the next call. */
export async function sendOverGoodbyes(sends: number): Promise<Findings> {
  let calls = 0
  let unprocessed = 0
  let port = 0
  const gateway = createHttp2Gateway(
    () => port,
    (stream) => {
      calls += 1
      if (calls % 3 !== 0) return false
      unprocessed += 1
      if (calls % 2 === 0) stream.close(constants.NGHTTP2_REFUSED_STREAM)
      else {
        const { session } = stream
        session?.goaway(constants.NGHTTP2_NO_ERROR, (stream.id ?? 0) - 2)
        // Once the host has the goodbye: a session that is destroyed may not send it any more.
        session?.ping(() => session.destroy())
      }
      return true
    },
  )
  gateway.listen(0, '127.0.0.1')
  await once(gateway, 'listening')
  const address = gateway.address()
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'))
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, cert)
  const environment = {
    MAILER_API_BASE: `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    NODE_EXTRA_CA_CERTS: authority,
  }
  return arranged({ store: 'sqlite', hosts: 1, environment }, async (world) => {
    port = Number(new URL(world.variables.MAILER_API_BASE).port)
    const { unknown, violations } = await sendMails(world, sends)
    if (unprocessed < sends / 4) violations.push(`only ${unprocessed} calls were not processed`)
    return {
      figures: { 'calls that the provider did not process': unprocessed, 'unknown of them': unknown },
      violations,
    }
  }).finally(() => {
    gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })
}

/** Sends mails through the host, each of which must reach the provider once. */
async function sendMails(world: World, sends: number): Promise<{ unknown: number; violations: string[] }> {
  const violations: string[] = []
  const acceptedBefore = world.journal.of('mail accepted').length
  let unknown = 0
  for (let number = 0; number < sends; number += 1) {
    const received = await world.sender.once(sendEmail(`mail_${number}`))
    if (received.status !== 200) violations.push(`mail_${number}: ${quote(received)}`)
    if (received.body.code === 'outcome_unknown') unknown += 1
  }
  violations.push(...sentTwice(world))
  const accepted = world.journal.of('mail accepted').length - acceptedBefore
  if (accepted !== sends) violations.push(`the provider accepted ${accepted} of ${sends} mails`)
  return { unknown, violations }
}

/** Sends mails one after another to such a provider, with the client alone and through a host. */
export async function sendOverStale(sends: number): Promise<Findings> {
  const proxy = await startStaleProxy()
  const environment = { MAILER_API_BASE: proxy.url }
  return arranged({ store: 'sqlite', hosts: 1, environment }, async (world) => {
    proxy.target = world.variables.MAILER_API_BASE
    const violations: string[] = []
    const client = createMailer({
      apiToken: 'shared-token',
      baseUrl: proxy.url,
      fromEmail: 'shop@example.com',
    })
    let unknownToClient = 0
    for (let number = 0; number < sends; number += 1) {
      const message = { to: `${number}@example.org`, subject: 'Hello', textBody: 'Hello.' }
      await client.sendEmail(message).catch(() => {
        unknownToClient += 1
      })
    }
    // The client keeps its connections, so some of its sends must break.
    if (unknownToClient === 0) violations.push('no kept connection broke')

    const brokenBefore = proxy.broken
    const { unknown, violations: broken } = await sendMails(world, sends)
    violations.push(...broken)
    return {
      figures: {
        sends,
        'unknown through the host': unknown,
        'connections that broke under the host': proxy.broken - brokenBefore,
        'unknown by the same client over kept connections': unknownToClient,
      },
      violations,
    }
  }).finally(proxy.close)
}
