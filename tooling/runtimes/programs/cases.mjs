/**
 * Runs the cases of the table on any runtime: Node, Bun and Deno pass them as an argument, and workerd as the body
 * of a request.
 */
import { createMailer, isIntegrationError } from '@org/mailer'
import { scripts } from './scripts.mjs'

const attachment = {
  name: 'a.bin',
  contentType: 'application/octet-stream',
  content: new Uint8Array(2_000_000),
}

async function run({ name, url, times = 1, batch, script, long, timeoutMs, abort }) {
  const compose = (index) => ({
    to: `${index}@example.com`,
    subject: name,
    textBody: 'Hello',
    ...(long && { attachments: [attachment] }),
  })
  const controller = new AbortController()
  if (abort === 'before') controller.abort()
  if (abort === 'after 2 s') setTimeout(() => controller.abort(), 2_000)
  const options = { signal: controller.signal, timeoutMs }
  const mailer = createMailer({ apiToken: 'server-token', fromEmail: 'shop@example.com', baseUrl: url })
  if (script) return scripts[script]({ mailer, url, compose, accept, outcomeOf })
  if (batch) {
    const messages = Array.from({ length: batch }, (_, index) => compose(index))
    return (await mailer.sendEmails(messages, options)).results.map(outcomeOf)
  }
  const outcomes = []
  for (let index = 0; index < times; index += 1) {
    const sending = mailer.sendEmail(compose(index), options)
    outcomes.push(await sending.then((result) => accept(result, index), describe))
  }
  return outcomes
}

function outcomeOf(result) {
  const effect = result.status === 'unknown' ? 'unknown' : 'none'
  return result.error ? `${result.error.code} ${effect}` : accept(result, result.index)
}

function accept({ messageId }, index) {
  return messageId === `id of ${index}@example.com` ? 'sent' : `the answer of another message: ${messageId}`
}

function describe(error) {
  return isIntegrationError(error) ? `${error.code} ${error.effect}` : `not an IntegrationError: ${error}`
}

async function runAll(cases) {
  const runNamed = async (each) => [each.name, await run(each).catch((error) => [describe(error)])]
  const outcomes = await Promise.all(cases.filter(({ long }) => !long).map(runNamed))
  // One after another: composing them takes time, which the others do not have.
  for (const each of cases) if (each.long) outcomes.push(await runNamed(each))
  return Object.fromEntries(outcomes)
}

export default {
  async fetch(request) {
    return Response.json(await runAll(await request.json()))
  },
}

const argument = globalThis.process?.argv?.[2]
if (argument) {
  console.log(JSON.stringify(await runAll(JSON.parse(argument))))
  // A connection that never stood keeps Deno alive.
  process.exit()
}
